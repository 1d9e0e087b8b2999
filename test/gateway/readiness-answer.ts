import { createGateway, type GatewayConfig } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { get, TestLogger } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';

/** An embedded gateway that nobody has started, and its log. */
export async function embedded(config: Partial<GatewayConfig<any, any, any>> = {}) {
  const log = new TestLogger();
  const gateway = createGateway({
    app: echo,
    embedded: true,
    logger: log,
    auth: { type: 'token', token: 't'.repeat(32) },
    ...config,
    limits: { drainMs: 200, ...config.limits },
  });
  closeLater(gateway, (it) => it.close());
  const url = await listenOnLoopback((request, response) => gateway.handleRequest(request, response));
  return { gateway, url, log };
}

/** What `/readyz` says, in short. */
export const readiness = async (url: string): Promise<string> => {
  const { status, body } = await get(`${url}/readyz`);
  return status === 200 ? 'ready' : `${status} ${body.error.code} ${body.error.details.reason}`;
};

/** Asks until the answer is another one: nothing tells of it, and mocha's own time-out ends a wait for what never comes. */
export async function becomes(url: string, expected: string): Promise<void> {
  while ((await readiness(url)) !== expected) await new Promise((resolve) => setTimeout(resolve, 50));
}
