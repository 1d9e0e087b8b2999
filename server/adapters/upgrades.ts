import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WEBSOCKET_PATH } from '../../shared/calls.js';
import type { HandleOptions } from '../transports/handle-options.js';

/** The part of a gateway that upgrades need. */
export interface UpgradeTarget {
  tryUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options?: HandleOptions): boolean;
}

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * Upgrades of an Express host. Express routes requests only, and a router does not know where it is mounted: so an upgrade that may
 * be ours is sent through the host's own handlers, with a response that leads nowhere, until it arrives at our router, stripped of
 * the mount and with whatever the host's middleware found out about the user.
 */
export class ExpressUpgrades {
  readonly #gateway: UpgradeTarget;
  readonly #pending = new WeakMap<IncomingMessage, Upgrade>();

  constructor(gateway: UpgradeTarget) {
    this.#gateway = gateway;
  }

  /** Serves an upgrade that came this way. False for anything else, which is untouched. */
  take(request: IncomingMessage, options: HandleOptions): boolean {
    const upgrade = this.#pending.get(request);
    if (!upgrade) return false;
    const taken = this.#gateway.tryUpgrade(request, upgrade.socket, upgrade.head, options);
    if (taken) this.#pending.delete(request);
    return taken;
  }

  /** Whether a request of the router is an upgrade that is not answered as a request. */
  has(request: IncomingMessage): boolean {
    return this.#pending.has(request);
  }

  /** Listens to a server's upgrades. */
  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => {
      const path = request.url?.split('?', 1)[0];
      if (path?.endsWith(WEBSOCKET_PATH)) this.#route(server, request, { socket, head });
      else this.#leave(server, socket);
    });
  }

  #route(server: Server, request: IncomingMessage, upgrade: Upgrade): void {
    const { socket } = upgrade;
    // The host's middleware takes its time; without a listener a reset meanwhile would end the process.
    const ignore = (): void => {};
    socket.on('error', ignore);
    this.#pending.set(request, upgrade);
    const response = new ServerResponse(request);
    // Somebody else answers: the host refuses the request, or knows nothing of it.
    response.end = () => {
      socket.off('error', ignore);
      if (this.#pending.delete(request)) this.#leave(server, socket, response.statusCode);
      return response;
    };
    server.emit('request', request, response);
  }

  /** Not ours. With no other listener, nobody would ever answer. */
  #leave(server: Server, socket: Duplex, status = 404): void {
    if (server.listenerCount('upgrade') > 1) return;
    socket.on('error', () => {});
    socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
      socket.destroy(),
    );
  }
}
