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

/** How a test's client reaches the gateway, and as whom. */
export interface TestClientOptions
  extends Omit<ClientOptions, 'baseUrl' | 'transport' | 'token' | 'headers' | 'credentials'> {
  /** @default 'user' */
  readonly user?: string | BaseUser | undefined;
  /** What it shows over a network. @default the user's id */
  readonly token?: string | undefined;
  /** `in-process` has no network between, and believes `user`. @default 'in-process' */
  readonly transport?: 'in-process' | 'sse' | 'websocket' | undefined;
}

/** A client whose line a test can cut. */
export type TestClient<Source = unknown> = Client<Source> & Line;

/** @param options.gateway The one that serves now, if any */
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
  return Object.assign(createClient({ ...options, transport: way.transport }), way.line);
}
