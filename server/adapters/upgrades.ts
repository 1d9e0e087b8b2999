import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { asksForWebSocket, serveWithoutUpgrade } from '../transports/http/ignore-upgrade.js';
import type { HandleOptions } from '../transports/request.js';

/** The part of a gateway that upgrades need. */
export interface UpgradeTarget {
  tryUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options?: HandleOptions): boolean;
  /** Whether one of this path may be its, wherever it is mounted. */
  mayUpgrade(path: string): boolean;
}

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Where the host answers if the upgrade is not ours. */
  readonly answer: HostAnswer;
}

/**
 * Upgrades of an Express host. Express routes requests only, and a router does not know where it is mounted: so an upgrade that may
 * be ours is sent through the host's own handlers until it arrives at our router, stripped of the mount and with whatever the host's
 * middleware found out about the user. What the host answers instead is the answer. Any other upgrade is served as the plain request
 * that it would be without us, unless somebody else listens.
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
    const { socket, head, answer } = upgrade;
    answer.release();
    const taken = this.#gateway.tryUpgrade(request, socket, head, options);
    if (taken) this.#pending.delete(request);
    else answer.resume();
    return taken;
  }

  /** Whether a request of the router is an upgrade that is not answered as a request. */
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

/** The host's answer to an upgrade that is not ours. It leads nowhere where somebody else listens to upgrades, who may want it. */
class HostAnswer {
  // Not a subclass: Express gives every response a prototype of its own.
  readonly response: ServerResponse;
  readonly #socket: Duplex;
  readonly #leads: boolean;
  readonly #drained = () => this.response.emit('drain');
  // The host's middleware takes its time; without a listener a reset meanwhile would end the process.
  readonly #ignore = () => {};

  constructor(request: IncomingMessage, socket: Duplex, leads: boolean) {
    this.response = new ServerResponse(request);
    this.#socket = socket;
    this.#leads = leads;
    this.response.shouldKeepAlive = false;
    if (leads) this.response.once('finish', () => socket.end());
    this.resume();
  }

  /** Lets go of the socket, which is to be somebody else's. */
  release(): void {
    this.#socket.off('error', this.#ignore).off('drain', this.#drained);
    if (this.#leads) this.response.detachSocket(this.#socket as Socket);
  }

  resume(): void {
    this.#socket.on('error', this.#ignore).on('drain', this.#drained);
    if (this.#leads) this.response.assignSocket(this.#socket as Socket);
  }
}
