import WebSocket from 'ws';
import type { ClientTransport, WebSocketClass } from '../../../client/index.js';
import { webSocketTransport } from '../../../client/index.js';
import { createUnixSocketClientTransport } from '../../../client/node/index.js';
import {
  createGateway,
  createInProcessTransport,
  type Gateway,
  type GatewayConfig,
} from '../../../server/index.js';
import { GatewayError } from '../../../shared/errors.js';
import { CuttingSocket } from '../../support/cutting-socket.js';
import { TestLogger } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { socketDirectory } from '../../support/socket-directory.js';
import { userNamed } from '../../support/users.js';
import { cuttable, type Door, type OpenGateway, openDoor, settings } from './door.js';

export const NodeWebSocket = WebSocket as unknown as WebSocketClass;

async function start(
  config: GatewayConfig,
): Promise<{ gateway: Gateway<any, any, any>; log: TestLogger; url: string }> {
  const log = new TestLogger();
  const gateway = closeLater(createGateway(settings(config, log)), (it) => it.close());
  const { url } = await gateway.start();
  return { gateway, log, url: url! };
}

export const sse: Door<OpenGateway> = {
  name: 'SSE',
  takesTokens: true,
  async open(config) {
    const { gateway, log, url } = await start(config);
    const proxy = await cuttable(url);
    return openDoor(gateway, log, { baseUrl: proxy.url, cut: proxy.cut });
  },
};

export const webSocket: Door<OpenGateway> = {
  name: 'WebSocket',
  takesTokens: true,
  async open(config) {
    const { gateway, log, url } = await start(config);
    const { url: baseUrl, ...proxy } = await cuttable(url);
    const transport = (token: string) => webSocketTransport({ baseUrl, token, WebSocket: NodeWebSocket });
    return openDoor(gateway, log, { cut: proxy.cut, transport });
  },
};

export const unixSocket: Door<OpenGateway> = {
  name: 'Unix socket',
  takesTokens: true,
  async open(config) {
    const path = `${socketDirectory()}/gateway.sock`;
    const { gateway, log } = await start({ ...config, socketPath: path });
    const proxy = await CuttingSocket.start(path);
    const transport = (token: string) => createUnixSocketClientTransport({ socketPath: proxy.path, token });
    return openDoor(gateway, log, { cut: () => proxy.cutAll(), transport });
  },
};

export const inProcess: Door<OpenGateway> = {
  name: 'in process',
  takesTokens: false,
  async open(config) {
    const { gateway, log } = await start(config);
    const cuts = new Set<() => void>();
    const transport = (user: string) =>
      cuttableTransport(createInProcessTransport(gateway, { user: userNamed(user) }), cuts);
    const cut = (): void => {
      for (const now of [...cuts]) now();
    };
    return openDoor(gateway, log, { cut, transport });
  },
};

/** There is no wire to cut in a process: its links break as if there were. */
export function cuttableTransport(inner: ClientTransport, cuts: Set<() => void>): ClientTransport {
  return {
    name: inner.name,
    request: (...args) => inner.request(...args),
    stream: (...args) => inner.stream(...args),
    close: () => inner.close(),
    open: (targets, handlers) => {
      let over = false;
      const finish = (end: Parameters<typeof handlers.onClose>[0]): void => {
        cuts.delete(cut);
        if (!over) handlers.onClose(end);
        over = true;
      };
      const link = inner.open(targets, {
        onEvent: (event) => {
          if (!over) handlers.onEvent(event);
        },
        onClose: finish,
      });
      const cut = (): void => {
        finish({ error: new GatewayError({ code: 'NETWORK' }) });
        link.close();
      };
      cuts.add(cut);
      return link;
    },
  };
}
