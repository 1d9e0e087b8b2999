import { type Client, type ClientTransport, createClient } from '../../../client/index.js';
import type { Gateway, GatewayConfig } from '../../../server/index.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { TestLogger } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { byName } from '../../support/users.js';

/** What is behind a door, a gateway or several on one store, and the way its clients take. */
export interface OpenDoor {
  readonly log: TestLogger;
  /** Closes what is behind it. */
  close(): Promise<void>;
  /** A client of the user of that name; disconnected after the test. */
  client(user?: string): Client;
  /** Cuts every connection. */
  cut(): void;
}

/** A door with one gateway behind it. */
export interface OpenGateway extends OpenDoor {
  readonly gateway: Gateway<any, any, any>;
}

export interface Door<Opened extends OpenDoor = OpenDoor> {
  readonly name: string;
  /** Whether a wrong token can be presented. */
  readonly takesTokens: boolean;
  open(config: GatewayConfig): Promise<Opened>;
}

/** How clients reach a gateway, and how their connections are cut. */
export interface Way {
  readonly cut: () => void;
  readonly transport?: (user: string) => ClientTransport;
  readonly baseUrl?: string;
  readonly extraRoutes?: string;
}

export function settings(config: GatewayConfig, log: TestLogger): GatewayConfig {
  return { auth: byName, logger: log, port: 0, ...config, limits: { drainMs: 200, ...config.limits } };
}

export function openDoor(gateway: Gateway<any, any, any>, log: TestLogger, way: Way): OpenGateway {
  return { gateway, log, ...clientsOf(way), close: () => gateway.close() };
}

/** The clients that take a way. */
export function clientsOf(way: Way): Pick<OpenDoor, 'client' | 'cut'> {
  const client = (user = 'alice'): Client => {
    const { baseUrl = '', transport, extraRoutes } = way;
    const made = createClient({ baseUrl, extraRoutes, token: user, transport: transport?.(user) ?? 'sse' });
    return closeLater(made, (it) => it.disconnect());
  };
  return { client, cut: way.cut };
}

export async function cuttable(url: string): Promise<{ readonly url: string; readonly cut: () => void }> {
  const proxy = await CuttingProxy.start(url);
  return { url: proxy.url, cut: () => proxy.cutAll() };
}

/** A host of somebody else's that serves a gateway. */
export interface ServedGateway {
  readonly gateway: Gateway<any, any, any>;
  /** Where the host listens, with the gateway's mount. */
  readonly url: string;
  readonly extraRoutes?: string;
}

/** A door that leads through a host, over SSE. */
export function throughHost(name: string, serve: (config: GatewayConfig) => Promise<ServedGateway>): Door {
  return {
    name,
    takesTokens: true,
    async open(config) {
      const log = new TestLogger();
      const { gateway, url, ...rest } = await serve(settings(config, log));
      const { origin, pathname } = new URL(url);
      const proxy = await cuttable(origin);
      return openDoor(gateway, log, { ...rest, baseUrl: proxy.url + pathname, cut: proxy.cut });
    },
  };
}
