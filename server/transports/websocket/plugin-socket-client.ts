import type { IncomingMessage } from 'node:http';
import { bearerToken } from '../../auth/credentials.js';
import type { Person } from '../../auth/types.js';
import type { EventConnection, Sink } from '../../delivery/connection.js';
import type { EndReason } from '../../delivery/end-reason.js';
import { objectForm } from '../../delivery/wire-form.js';
import type { ConnectionEndReason } from '../../diagnostics/messages.js';
import { historyDepth, parseJson } from '../../schema/parse-json.js';
import type { FrameEnvironment } from '../frames/frame-environment.js';
import {
  endFor,
  endOf,
  FLOODED,
  type FramePeer,
  type FrameWire,
  type WireEnd,
  type WireReader,
} from '../frames/frame-wire.js';
import type { OpenSocket } from '../frames/socket-clients.js';
import { identify, redeem, type TicketDoor } from '../identify.js';
import { publicError } from '../public-error.js';
import type { RequestTarget } from '../request.js';
import { requestIdOfRequest } from '../request-id.js';
import type {
  PluginSocket,
  PluginSocketListener,
  PluginSocketRoute,
  SocketStream,
} from './plugin-upgrade.js';

/** The parts of the gateway that sockets of plugins use. */
export type PluginSocketEnvironment = FrameEnvironment & TicketDoor;

/** The part of a WebSocket that a plugin's client uses. */
type PluginWire = FrameWire & Pick<PluginSocket, 'roundTrip'>;

/** An upgrade to a WebSocket, and the plugin's route for it. */
export interface Upgraded {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  readonly route: PluginSocketRoute;
  readonly peer: FramePeer;
}

/**
 * A client of a plugin on a WebSocket. It has a connection like any other, which is authenticated, bounded, revalidated, drained and
 * announced. The plugin gives its messages their meaning.
 */
export class PluginSocketClient implements PluginSocket, Sink, WireReader, OpenSocket {
  readonly #env: PluginSocketEnvironment;
  readonly #wire: PluginWire;
  readonly #route: PluginSocketRoute;
  readonly #streams = new Set<SocketStream>();
  /** Messages that the plugin has not been given yet. */
  readonly #waiting: string[] = [];
  #connection: EventConnection | null = null;
  #listener: PluginSocketListener | null = null;
  #isBusy = false;
  /** Whether the client does not keep up. */
  #isBlocked = false;
  #isClosed = false;
  #leaving: WireEnd | null = null;
  /** Called when the client has caught up, or is gone. */
  #caughtUp: (() => void) | null = null;

  constructor(env: PluginSocketEnvironment, wire: PluginWire, upgraded: Upgraded) {
    this.#env = env;
    this.#wire = wire;
    this.#route = upgraded.route;
    env.clients.add(this, upgraded.peer.request.ip);
    wire.pause();
    this.#open(upgraded)
      .then(() => this.#work())
      .catch((error: unknown) => this.fail(error));
  }

  get introduced(): boolean {
    return this.#connection !== null;
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  get backlog(): number {
    return this.#wire.backlog;
  }

  get taken(): number {
    return this.#wire.sent;
  }

  async #open({ request, target: { path, query }, peer }: Upgraded): Promise<void> {
    const { connections, operations, clients, limits } = this.#env;
    await this.#env.ready();
    const person = await this.#identify(peer, query);
    if (this.#isClosed) return;
    clients.identified(this);
    const { heartbeatMs, slowClientMs } = limits;
    const { transport } = this.#route;
    const connection = connections.add({
      ...{ id: connections.newId(), transport, person, requestId: requestIdOfRequest(request) },
      ...{ form: objectForm, sink: this, heartbeatMs, slowClientMs, client: true },
    });
    this.#connection = connection;
    await operations.open(connection, []);
    this.#listener = await this.#route.accept({
      request,
      path,
      socket: this,
      get person() {
        return connection.person;
      },
      parse: (text) => parseJson(text, historyDepth(limits.jsonDepth)),
    });
  }

  /** Finds the client's identity. A browser can set no header of an upgrade, so the URL may carry the token, or a ticket for one use. */
  async #identify({ request, user }: FramePeer, query: string): Promise<Person> {
    const token = bearerToken(request.headers) ?? new URLSearchParams(query).get('token') ?? undefined;
    const redeemed = await redeem(this.#env, { token, user }, { resuming: false });
    redeemed?.ticket.drop();
    return redeemed?.person ?? identify(this.#env, request, { token, user });
  }

  receive(text: string): void {
    if (this.#isClosed) return;
    this.#waiting.push(text);
    // Messages that were read already still arrive, hence the queue.
    this.#wire.pause();
    if (this.#listener) void this.#work();
  }

  /** Passes messages to the plugin one by one, the next only when the client has taken the replies before. Never rejects. */
  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let text = this.#next(); text !== undefined; text = this.#next()) {
        if (!this.#allow()) break;
        await this.#listener!.message(text);
        if (this.#isBlocked && !this.#isClosed)
          await new Promise<void>((resolve) => {
            this.#caughtUp = resolve;
          });
      }
    } catch (error) {
      this.fail(error);
    }
    this.#isBusy = false;
    this.#wire.resume();
    this.#leave();
  }

  #next(): string | undefined {
    return this.#isClosed ? undefined : this.#waiting.shift();
  }

  pinged(): void {
    if (this.#connection) this.#allow();
  }

  /** Whether one more message is tolerable; otherwise the socket is closed. */
  #allow(): boolean {
    try {
      this.#env.chatter.take(this.#connection!.id);
      return true;
    } catch {
      this.#close(FLOODED);
      return false;
    }
  }

  drained(): void {
    this.#isBlocked = false;
    this.#connection?.drained();
    this.#caughtUp?.();
    for (const stream of [...this.#streams]) stream.drained();
  }

  closed(): void {
    this.#env.clients.delete(this);
    this.#shut('left');
  }

  send(...messages: readonly string[]): boolean {
    if (this.#isClosed || messages.length === 0) return true;
    const writable = this.#wire.send(...messages);
    if (!writable) {
      this.#isBlocked = true;
      this.#connection?.blocked();
    }
    return writable;
  }

  roundTrip(): Promise<void> {
    return this.#wire.roundTrip();
  }

  carry(stream: SocketStream): () => void {
    this.#streams.add(stream);
    return () => {
      if (this.#streams.delete(stream)) this.#leave();
    };
  }

  close(code = 1000, reason = ''): void {
    this.#close({ code, reason }, code === 1000 ? 'done' : 'failed');
  }

  cut(): void {
    this.end('slow');
  }

  // The connection's own events, such as heartbeats, do not belong to the plugin's protocol.
  write(): boolean {
    return true;
  }

  sent(): number {
    return this.taken;
  }

  unread(): number {
    return this.backlog;
  }

  end(reason: EndReason): void {
    if (reason === 'drain' || reason === 'away' || reason === 'interrupted') {
      this.#leaving = endOf(reason);
      this.#connection?.gone(reason);
      this.#leave();
    } else this.#close(endOf(reason), reason);
  }

  destroy(): void {
    this.#shut('drain');
    this.#wire.destroy();
  }

  /** Closes the socket if it has to leave and no message is being answered. */
  #leave(): void {
    if (!this.#leaving || this.#isBusy || this.#waiting.length > 0) return;
    for (const { ofRun } of this.#streams) if (ofRun) return;
    this.#close(this.#leaving);
  }

  fail(error: unknown): void {
    if (this.#isClosed) return;
    const shown = publicError(error, this.#env.report);
    try {
      this.#route.options.fail?.(shown, this);
    } catch (problem) {
      this.#env.report(problem, `a plugin could not close its socket: ${this.#route.transport}`);
    }
    this.#close(endFor(shown));
  }

  #close(end: WireEnd, reason: ConnectionEndReason = 'failed'): void {
    if (this.#isClosed) return;
    this.#shut(reason);
    this.#wire.close(end);
  }

  #shut(reason: ConnectionEndReason): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#connection?.gone(reason);
    for (const stream of [...this.#streams]) stream.left();
    this.#streams.clear();
    this.#caughtUp?.();
  }
}
