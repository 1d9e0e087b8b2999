import { WebSocket } from 'ws';
import {
  type Client,
  type ClientOptions,
  type ClientTransport,
  createClient,
  GatewayError,
  sseTransport,
  type WebSocketClass,
  webSocketTransport,
} from '../client/index.js';
import { type BaseUser, createInProcessTransport, type Gateway } from '../server/index.js';
import { cuttable, type Line } from './cuttable.js';

/** Options of a test's client: its user and its transport. */
export interface TestClientOptions
  extends Omit<ClientOptions, 'baseUrl' | 'transport' | 'token' | 'headers' | 'credentials'> {
  /** @default 'user' */
  readonly user?: string | BaseUser | undefined;
  /** The token that the client sends over a network. @default the user's id */
  readonly token?: string | undefined;
  /** `in-process` uses no network, and trusts `user`. @default 'in-process' */
  readonly transport?: 'in-process' | 'sse' | 'websocket' | undefined;
}

/** A client whose line a test can cut. */
export type TestClient<Source = unknown> = Client<Source> & Line;

/** Opens a client. @param options.gateway Returns the present gateway, if there is one */
export function openTestClient({
  user,
  token,
  transport = 'in-process',
  url: baseUrl,
  gateway,
  ...options
}: Omit<TestClientOptions, 'user'> & {
  readonly user: BaseUser | undefined;
  readonly url: string;
  readonly gateway: () => Gateway<any, any, any> | null;
}): TestClient {
  const inProcess = new WeakMap<Gateway<any, any, any>, ClientTransport>();
  const direct = (): ClientTransport => {
    const now = gateway();
    if (!now) throw new GatewayError({ code: 'NETWORK', message: 'The gateway is down' });
    const made = inProcess.get(now) ?? createInProcessTransport(now, user ? { user } : {});
    inProcess.set(now, made);
    return made;
  };
  let wire: ClientTransport | undefined;
  const overNetwork = (): ClientTransport => {
    const way = { WebSocket: WebSocket as unknown as WebSocketClass, ...options, baseUrl, token };
    wire ??= transport === 'sse' ? sseTransport(way) : webSocketTransport(way);
    return wire;
  };
  const way = cuttable(transport, transport === 'in-process' ? direct : overNetwork, () => wire?.close());
  const client = createClient({ ...options, transport: way.transport });
  return Object.assign(client, way.line, {
    goOnline: () => {
      way.line.goOnline();
      // An answer ends the wait before the next attempt, like a page's `online` event.
      client.status().catch(() => {});
    },
  });
}
