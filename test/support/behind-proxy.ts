import NodeWebSocket from 'ws';
import type { Client, ClientOptions, GatewayEvent, WebSocketClass } from '../../client/index.js';
import type { GatewayConfig } from '../../server/index.js';
import { echo } from './apps.js';
import { connectClient } from './client.js';
import { FaultProxy } from './fault-proxy.js';
import { startGateway } from './gateway.js';

/** The class of the `ws` package, for Node before 22. */
export const WebSocket = NodeWebSocket as unknown as WebSocketClass;

export const isEnd = ({ type }: GatewayEvent): boolean => type === 'message_end';

/** A gateway behind a line that can fail, and a client of it. */
export async function behindProxy(
  transport: ClientOptions['transport'],
  config: GatewayConfig<any, any, any> = {},
  options: Omit<ClientOptions, 'baseUrl' | 'transport'> = {},
) {
  const { gateway, url } = await startGateway({
    app: echo,
    ...config,
    limits: { heartbeatMs: 150, ...config.limits },
  });
  const proxy = await FaultProxy.start(url);
  const connect = (more: object = {}): Client =>
    connectClient(proxy.url, { transport: transport!, WebSocket, timeoutMs: 1500, ...options, ...more });
  return { gateway, url, proxy, connect, client: connect() };
}
