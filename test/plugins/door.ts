import { expect } from 'chai';
import type { GatewayConfig, GatewayPlugin } from '../../server/index.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

/** How a request is asked with: `user` is one of `byName`. @default alice */
export type AskInit = RequestInit & { readonly user?: string | undefined };

/** Requests of users to what a plugin serves. */
export interface Asking {
  /** A request to a path below that. */
  ask(path: string, init?: AskInit): Promise<Response>;
}

/** A gateway with a plugin; users are told apart by their tokens. */
export async function startDoor(
  plugin: GatewayPlugin,
  config: GatewayConfig<any, any, any>,
): Promise<TestGateway> {
  const started = await startGateway({ auth: byName, ...config });
  started.gateway.use(plugin);
  return started;
}

/** Asks for paths below an address. */
export const askBelow =
  (base: string): Asking['ask'] =>
  (path, { user = 'alice', ...init } = {}) =>
    fetch(`${base}${path}`, { ...init, headers: { ...as(user), ...init.headers } });

/** What posts a body as JSON. A text is sent as it is. */
export const posting = (body: unknown, { headers, ...init }: AskInit = {}): AskInit => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
  ...init,
});

/** Reads a stream that breaks off, and does something once it has told a part. @returns what came before the break */
export async function toldUntilCut({ body }: Response, part: string, act: () => void): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  const reading = (async () => {
    for await (const bytes of body!) {
      text += decoder.decode(bytes, { stream: true });
      if (text.includes(part)) act();
    }
  })();
  expect(await reading.catch((error) => error)).to.be.instanceOf(TypeError);
  return text;
}
