import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import WebSocket from 'ws';
import type { WebSocketClass } from '../../client/index.js';
import { type Client, type ClientTransport, createClient, webSocketTransport } from '../../client/index.js';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import {
  createGateway,
  createInProcessTransport,
  type Gateway,
  type GatewayConfig,
  gatewayMiddleware,
} from '../../server/index.js';
import { GatewayError } from '../../shared/errors.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { CuttingSocket } from '../support/cutting-socket.js';
import { TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { byName, userNamed } from '../support/users.js';

/** A gateway, and the way its clients take. */
export interface OpenDoor {
  readonly gateway: Gateway<any, any, any>;
  readonly log: TestLogger;
  /** A client of the user of that name; disconnected after the test. */
  client(user?: string): Client;
  /** Cuts every connection. */
  cut(): void;
}

export interface Door {
  readonly name: string;
  /** Whether a wrong token can be presented. */
  readonly takesTokens: boolean;
  open(config: GatewayConfig): Promise<OpenDoor>;
}

type MakeTransport = (user: string) => ClientTransport | 'sse';

const NodeWebSocket = WebSocket as unknown as WebSocketClass;

function settings(config: GatewayConfig, log: TestLogger): GatewayConfig {
  return { auth: byName, logger: log, port: 0, ...config, limits: { drainMs: 200, ...config.limits } };
}

function openDoor(
  gateway: Gateway<any, any, any>,
  log: TestLogger,
  way: { readonly cut: () => void; readonly transport: MakeTransport; readonly baseUrl?: string },
): OpenDoor {
  const client = (user = 'alice'): Client => {
    const { baseUrl = '', transport } = way;
    const made = createClient({ baseUrl, token: user, transport: transport(user) });
    return closeLater(made, (it) => it.disconnect());
  };
  return { gateway, log, client, cut: way.cut };
}

async function start(
  config: GatewayConfig,
): Promise<{ gateway: Gateway<any, any, any>; log: TestLogger; url: string }> {
  const log = new TestLogger();
  const gateway = closeLater(createGateway(settings(config, log)), (it) => it.close());
  const { url } = await gateway.start();
  return { gateway, log, url: url! };
}

const sse: Door = {
  name: 'SSE',
  takesTokens: true,
  async open(config) {
    const { gateway, log, url } = await start(config);
    const proxy = await CuttingProxy.start(url);
    return openDoor(gateway, log, { baseUrl: proxy.url, cut: () => proxy.cutAll(), transport: () => 'sse' });
  },
};

const webSocket: Door = {
  name: 'WebSocket',
  takesTokens: true,
  async open(config) {
    const { gateway, log, url } = await start(config);
    const { url: baseUrl, ...proxy } = await cuttable(url);
    const transport = (token: string) => webSocketTransport({ baseUrl, token, WebSocket: NodeWebSocket });
    return openDoor(gateway, log, { cut: proxy.cut, transport });
  },
};

const unixSocket: Door = {
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

const inProcess: Door = {
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

function inExpress(
  name: string,
  transport: (baseUrl: string, user: string) => ClientTransport | 'sse',
): Door {
  return {
    name: `Express, ${name}`,
    takesTokens: true,
    async open(config) {
      const log = new TestLogger();
      const gateway = gatewayMiddleware(settings(config, log));
      closeLater(gateway.gateway, (it) => it.close());
      const server = createServer(express().use(express.json()).use('/api/agent', gateway));
      gateway.attach(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
      closeLater(server, (it) => {
        it.close();
        it.closeAllConnections();
      });
      const proxy = await cuttable(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const baseUrl = `${proxy.url}/api/agent`;
      const make = (user: string) => transport(baseUrl, user);
      return openDoor(gateway.gateway, log, { baseUrl, cut: proxy.cut, transport: make });
    },
  };
}

async function cuttable(url: string): Promise<{ readonly url: string; readonly cut: () => void }> {
  const proxy = await CuttingProxy.start(url);
  return { url: proxy.url, cut: () => proxy.cutAll() };
}

/** There is no wire to cut in a process: its links break as if there were. */
function cuttableTransport(inner: ClientTransport, cuts: Set<() => void>): ClientTransport {
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

/** Every way in. */
export const DOORS: readonly Door[] = [
  sse,
  webSocket,
  unixSocket,
  inProcess,
  inExpress('SSE', () => 'sse'),
  inExpress('WebSocket', (baseUrl, token) =>
    webSocketTransport({ baseUrl, token, WebSocket: NodeWebSocket }),
  ),
];
