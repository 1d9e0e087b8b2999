import { createGateway, type Gateway, type GatewayConfig } from '../../server/index.js';
import { TestLogger, TOKEN } from './gateway.js';
import { closeLater } from './resources.js';
import { unnamedStore } from './stores.js';

/** A gateway without a port, for tests through host code; it is closed after the test. */
export function embedGateway(config: GatewayConfig<any, any, any>): Gateway<any, any, any> {
  const limits = { sendsPerSecond: Number.POSITIVE_INFINITY, drainMs: 0, ...config.limits };
  const auth = { type: 'token', token: TOKEN } as const;
  const gateway = createGateway({
    embedded: true,
    auth,
    logger: new TestLogger(),
    ...unnamedStore(),
    ...config,
    limits,
  });
  return closeLater(gateway, (it) => it.close());
}
