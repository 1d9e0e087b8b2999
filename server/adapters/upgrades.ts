import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { asksForWebSocket, serveWithoutUpgrade } from '../transports/http/ignore-upgrade.js';
import type { HandleOptions } from '../transports/request.js';

/** The part of a gateway that upgrades need. */
export interface UpgradeTarget {
  tryUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options?: HandleOptions): boolean;
  /** Whether the gateway may serve a path, wherever it is mounted. */
  mayUpgrade(path: string): boolean;
}

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Takes the host's answer if the gateway does not take the upgrade. */
  readonly answer: HostAnswer;
}

/**
 * Upgrades of an Express host. Express routes requests only, and a router does not know its mount path. So an upgrade that may be the
 * gateway's is sent through the host's own handlers until it arrives at the router, without the mount path and with the user that the
 * host's middleware found. If the host answers instead, that answer is sent. Any other upgrade is served as a plain request, as it would be
 * without the gateway, unless another listener takes it.
 */
export class ExpressUpgrades {
  readonly #gateway: UpgradeTarget;
  readonly #pending = new WeakMap<IncomingMessage, Upgrade>();

  constructor(gateway: UpgradeTarget) {
    this.#gateway = gateway;
  }

  /** Serves an upgrade that came through the host's handlers. Returns false for anything else and leaves it alone. */
  take(request: IncomingMessage, options: HandleOptions): boolean {
    const upgrade = this.#pending.get(request);
    if (!upgrade) return false;
    const { socket, head, answer } = upgrade;
    answer.release();
    const taken = this.#gateway.tryUpgrade(request, socket, head, options);
    if (taken) this.#pending.delete(request);
    else answer.resume();
    return taken;
  }

  /** Whether a request of the router is an upgrade, which must not be answered as a request. */
  has(request: IncomingMessage): boolean {
    return this.#pending.has(request);
  }

  /** Listens to a server's upgrades. */
  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const path = request.url?.split('?', 1)[0] ?? '';
      const alone = server.listenerCount('upgrade') === 1;
      if (asksForWebSocket(request) && this.#gateway.mayUpgrade(path)) {
        const answer = new HostAnswer(request, socket, alone);
        this.#pending.set(request, { socket, head, answer });
        server.emit('request', request, answer.response);
      } else if (alone) serveWithoutUpgrade(server, request, { socket, head });
    });
  }
}

/** The host's answer to an upgrade that the gateway does not take. It is dropped if another listener may want the upgrade. */
class HostAnswer {
  // Not a subclass: Express replaces the prototype of every response.
  readonly response: ServerResponse;
  readonly #socket: Duplex;
  readonly #leads: boolean;
  readonly #drained = () => this.response.emit('drain');
  // Without an error listener, a reset while the host's middleware works would end the process.
  readonly #ignore = () => {};

  constructor(request: IncomingMessage, socket: Duplex, leads: boolean) {
    this.response = new ServerResponse(request);
    this.#socket = socket;
    this.#leads = leads;
    this.response.shouldKeepAlive = false;
    if (leads) this.response.once('finish', () => socket.end());
    this.resume();
  }

  /** Releases the socket for another owner. */
  release(): void {
    this.#socket.off('error', this.#ignore).off('drain', this.#drained);
    if (this.#leads) this.response.detachSocket(this.#socket as Socket);
  }

  resume(): void {
    this.#socket.on('error', this.#ignore).on('drain', this.#drained);
    if (this.#leads) this.response.assignSocket(this.#socket as Socket);
  }
}
