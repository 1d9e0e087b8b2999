import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WEBSOCKET_PATH } from '../../../shared/calls.js';
import { GatewayError } from '../../../shared/errors.js';
import { retryAfter } from '../../delivery/end-reason.js';
import type { WireReader } from '../frames/frame-wire.js';
import { SocketClient } from '../frames/socket-client.js';
import { routeNotFound } from '../not-found.js';
import { checkOrigin } from '../origin.js';
import { publicError } from '../public-error.js';
import { authRequest, type HandleOptions, targetOf } from '../request.js';
import { REQUEST_ID, requestIdOfRequest } from '../request-id.js';
import { PluginSocketClient, type PluginSocketEnvironment } from './plugin-socket-client.js';
import type { PluginSocketRoutes } from './plugin-upgrade.js';
import { refuseUpgrade } from './refuse-upgrade.js';
import { WebSocketWire } from './websocket-wire.js';
import { createWebSocketServer, type WebSocketServer } from './ws.js';

/** Time between two pings, in milliseconds. Three without a sign of life make 42 s, so a dead peer is cut within 45 s. */
const PING_MS = 14_000;
/** Pieces of a message at most. Each piece costs more than its bytes, and no client needs so many. */
const MAX_FRAGMENTS = 1024;
/** Time for the peer to answer a close, in milliseconds. */
const CLOSE_MS = 2000;

/** Turns upgrade requests into WebSockets: standalone, embedded and behind every adapter alike. */
export class WebSocketDoor {
  readonly #env: PluginSocketEnvironment;
  readonly #plugins: PluginSocketRoutes;
  #server: WebSocketServer | undefined;
  #loading: Promise<WebSocketServer> | undefined;
  readonly #wires = new Set<WebSocketWire>();
  #timer: NodeJS.Timeout | undefined;

  constructor(env: PluginSocketEnvironment, plugins: PluginSocketRoutes) {
    this.#env = env;
    this.#plugins = plugins;
  }

  /** Takes an upgrade over. Returns false, without touching the request, if its path is not the gateway's. */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer, options: HandleOptions = {}): boolean {
    const target = targetOf(request, options.basePath ?? '');
    if (!target) return false;
    const route = target.path === WEBSOCKET_PATH ? null : this.#plugins.findSocket(target.path);
    if (route === undefined) return false;
    const refuse = (error: unknown): void => {
      const requestId = requestIdOfRequest(request);
      refuseUpgrade(socket, publicError(error, this.#env.report, { requestId }), requestId);
    };
    const upgrade = (server: WebSocketServer): void => {
      const address = this.#env.addressOf(request);
      this.#admit(address);
      const peer = { request: authRequest(request, address), user: options.user };
      const readerOf = (wire: WebSocketWire): WireReader =>
        route
          ? new PluginSocketClient(this.#env, wire, { request, target, route, peer })
          : new SocketClient(this.#env, wire, peer);
      server.handleUpgrade(request, socket, head, (webSocket) =>
        this.#accept(new WebSocketWire(webSocket, socket, readerOf)),
      );
    };
    try {
      this.#env.gate.enter(this.#env.addressOf(request), socket);
      checkOrigin(request, this.#env.origin);
      if (this.#server !== undefined) {
        upgrade(this.#server);
        return true;
      }
      // Without a listener the reset by a client that leaves meanwhile would end the process.
      socket.on('error', () => socket.destroy());
      this.#loading ??= this.#load();
      this.#loading.then(upgrade).catch(refuse);
    } catch (error) {
      refuse(error);
    }
    return true;
  }

  async #load(): Promise<WebSocketServer> {
    const server = await createWebSocketServer({
      maxPayload: Math.min(this.#env.limits.bodyBytes, 0x7fff_ffff),
      maxFragments: MAX_FRAGMENTS,
      closeTimeout: CLOSE_MS,
    });
    server.on('headers', (headers: string[], request: IncomingMessage) => {
      headers.push(`${REQUEST_ID}: ${requestIdOfRequest(request)}`);
    });
    this.#server = server;
    return server;
  }

  #admit(address: string): void {
    if (this.#env.state.draining) {
      throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: retryAfter('drain') });
    }
    this.#env.clients.admit(address);
  }

  /** Whether an upgrade may be meant for this door, under any mount. */
  mayTake(path: string): boolean {
    if (path.endsWith(WEBSOCKET_PATH)) return true;
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      if (this.#plugins.findSocket(path.slice(at))) return true;
    return false;
  }

  /** Refuses an upgrade on a path that is not served. */
  notFound(request: IncomingMessage, socket: Duplex, { basePath = '' }: HandleOptions = {}): void {
    const error = routeNotFound(request, basePath, (path) => path === WEBSOCKET_PATH);
    refuseUpgrade(socket, error);
  }

  // A separate function, because its closure lives as long as the socket and must not hold the request.
  #accept(wire: WebSocketWire): void {
    this.#wires.add(wire);
    this.#timer ??= this.#beat();
    wire.onClose(() => this.#forget(wire));
  }

  #beat(): NodeJS.Timeout {
    const everyMs = Math.min(PING_MS, this.#env.limits.heartbeatMs);
    const timer = setInterval(() => {
      for (const wire of [...this.#wires]) {
        try {
          wire.beat();
        } catch (error) {
          this.#env.report(error, 'pinging a WebSocket failed');
          wire.destroy();
        }
      }
    }, everyMs);
    return timer.unref();
  }

  #forget(wire: WebSocketWire): void {
    this.#wires.delete(wire);
    if (this.#wires.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
