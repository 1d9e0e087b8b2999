import { GatewayError } from '../../../shared/errors.js';
import type {
  CancelFrame,
  ClientFrame,
  ConnectFrame,
  RequestFrame,
  ServerFrame,
} from '../../../shared/frames.js';
import { negotiateProtocol } from '../../../shared/version.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import { authExpiry } from '../../auth/expiry.js';
import type { Person } from '../../auth/types.js';
import type { EventConnection, Sink } from '../../delivery/connection.js';
import { type EndReason, retryAfter } from '../../delivery/end-reason.js';
import type { ConnectionEndReason } from '../../diagnostics/messages.js';
import { identify } from '../identify.js';
import { errorBody, publicError } from '../public-error.js';
import type { FrameEnvironment } from './frame-environment.js';
import {
  endFor,
  endOf,
  FLOODED,
  FrameFault,
  type FramePeer,
  type FrameWire,
  readFrame,
  type WireEnd,
  type WireReader,
} from './frame-wire.js';
import { RequestDesk } from './request-desk.js';
import type { OpenSocket } from './socket-clients.js';

/** Time for the first frame, in milliseconds; `limits.handshakeMs` can only shorten it. */
const HELLO_MS = 5000;
/** Requests that may wait for the answer to `connect` before reading stops: their number, and their size in characters. */
const EARLY = { requests: 64, size: 256 * 1024 };

/** A request that waits, and its size in characters. */
interface EarlyRequest {
  frame: RequestFrame | CancelFrame;
  readonly size: number;
}

/**
 * One client on a socket that speaks frames, for every kind of socket: the handshake, requests and their answers, its event
 * connection, new tokens. A wire only reports the messages that it receives.
 */
export class SocketClient implements Sink, WireReader, OpenSocket {
  readonly #env: FrameEnvironment;
  readonly #wire: FrameWire;
  readonly #desk: RequestDesk;
  #peer: FramePeer;
  #stage: 'new' | 'opening' | 'open' | 'closed' = 'new';
  #connection: EventConnection | null = null;
  /** Requests from before `connected`, and those that arrived while the first were answered, in order. */
  #early: EarlyRequest[] | null = [];
  #earlySize = 0;
  #earlyPaused = false;
  #timer: NodeJS.Timeout | undefined;
  #leaving: WireEnd | null = null;

  constructor(env: FrameEnvironment, wire: FrameWire, peer: FramePeer) {
    this.#env = env;
    this.#wire = wire;
    this.#peer = peer;
    this.#desk = new RequestDesk(env, wire, {
      answered: () => this.#leave(),
      blocked: () => this.#connection?.blocked(),
    });
    const late = (): void => this.#guarded(() => this.#late());
    this.#timer = setTimeout(late, Math.min(env.limits.handshakeMs, HELLO_MS)).unref();
    env.clients.add(this, peer.request.ip);
  }

  /** Whether the client's first frame has arrived. */
  get introduced(): boolean {
    return this.#stage !== 'new';
  }

  /** A whole frame has arrived. */
  receive(text: string): void {
    // Same as `#guarded`, without a function for each frame.
    try {
      this.#receive(text);
    } catch (error) {
      this.fail(error);
    }
  }

  #receive(text: string): void {
    if (this.#stage === 'closed') return;
    let frame: ClientFrame;
    try {
      frame = readFrame(text, this.#env.limits.jsonDepth);
    } catch (error) {
      return this.#fault(error);
    }
    if (this.#stage !== 'new') this.#take(frame, text.length);
    else if (frame.type === 'connect') this.#connect(frame);
    else this.fail(new GatewayError({ code: 'INVALID_REQUEST', message: 'The first frame must be connect' }));
  }

  /** The receiver has caught up. */
  drained(): void {
    this.#guarded(() => {
      this.#desk.drained();
      this.#connection?.drained();
    });
  }

  /** The wire's own kind of ping has arrived, and was answered there. */
  pinged(): void {
    this.#guarded(() => this.#allow());
  }

  /** The socket is gone. */
  closed(): void {
    this.#env.clients.delete(this);
    this.#guarded(() => this.#shut('left'));
  }

  /** Sends an error and closes the connection. Never throws. */
  fail(error: unknown): void {
    if (this.#stage === 'closed') return;
    try {
      const shown = publicError(error, this.#env.report);
      this.#error(shown);
      this.#close(endFor(shown));
    } catch (problem) {
      this.#env.report(problem, 'closing a socket failed');
      this.destroy('failed');
    }
  }

  /** Runs the work of a socket's event, so that an error in it ends this connection and nothing else. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Cuts the socket. */
  destroy(reason: ConnectionEndReason = 'drain'): void {
    this.#shut(reason);
    this.#wire.destroy();
  }

  write(payload: unknown): boolean {
    return this.#wire.write(payload);
  }

  sent(): number {
    return this.#wire.sent;
  }

  unread(): number {
    return this.#wire.backlog;
  }

  /** Ends the connection for the gateway. If it drains, open requests are answered first. */
  end(reason: EndReason): void {
    if (this.#stage === 'closed' || this.#leaving) return;
    const end = endOf(reason);
    if (reason === 'drain' || reason === 'away' || reason === 'interrupted') {
      this.#error(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: retryAfter(reason) }));
      this.#connection?.gone(reason);
      this.#leaving = end;
      this.#leave();
    } else this.#close(end);
  }

  #take(frame: ClientFrame, size: number): void {
    switch (frame.type) {
      case 'req':
        if (this.#early) this.#wait(frame, size);
        else this.#desk.answer(frame, this.#connection!);
        break;
      case 'cancel':
        if (!this.#forget(frame)) this.#desk.cancel(frame.id);
        break;
      case 'more':
        this.#desk.more(frame.id, frame.count);
        break;
      case 'ping':
        if (this.#allow()) this.#desk.send({ type: 'pong', timestamp: frame.timestamp });
        break;
      case 'auth':
        if (this.#allow()) void this.#refresh(frame.token);
        break;
      case 'connect':
        this.#fault(new GatewayError({ code: 'INVALID_REQUEST', message: 'The connection is open already' }));
        break;
      case 'pong':
        break;
    }
  }

  #wait(frame: RequestFrame, size: number): void {
    this.#early!.push({ frame, size });
    this.#earlySize += size;
    if (this.#earlyPaused || (this.#early!.length < EARLY.requests && this.#earlySize < EARLY.size)) return;
    this.#earlyPaused = true;
    this.#wire.pause();
  }

  #late(): void {
    this.fail(
      new GatewayError({ code: 'INVALID_REQUEST', message: 'The connect frame did not come in time' }),
    );
  }

  #connect(frame: ConnectFrame): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stage = 'opening';
    this.#open(frame)
      .then(() => this.#answerEarly())
      .catch((error: unknown) => this.fail(error));
  }

  async #open({ protocol, token, subscribe = [] }: ConnectFrame): Promise<void> {
    const { state, connections, operations, limits } = this.#env;
    const version = negotiateProtocol(protocol);
    if (state.draining) throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: retryAfter('drain') });
    await this.#env.ready();
    const person = await this.#identify(token);
    if (this.#stage === 'closed') return;
    this.#env.clients.identified(this);
    const { heartbeatMs, slowClientMs } = limits;
    const { transport, form } = this.#wire;
    const id = connections.newId();
    this.#connection = connections.add({
      sink: this,
      client: true,
      ...{ id, transport, person, form, heartbeatMs, slowClientMs },
    });
    // A new token later needs only headers and address, so the rest of the request need not live as long as the socket.
    const { headers, ip } = this.#peer.request;
    this.#peer = { ...this.#peer, request: { headers, ip } };
    await operations.open(this.#connection, subscribe, version);
  }

  async #answerEarly(): Promise<void> {
    if (this.#stage !== 'opening') return;
    this.#stage = 'open';
    for (;;) {
      const next = this.#early?.shift();
      if (!next) break;
      const { frame, size } = next;
      if (frame.type === 'req') await Promise.allSettled([this.#desk.answer(frame, this.#connection!)]);
      else this.#desk.refuse(frame.id, new GatewayError({ code: 'ABORTED' }));
      this.#earlySize -= size;
      if (!this.#earlyPaused || this.#earlySize >= EARLY.size) continue;
      this.#earlyPaused = false;
      this.#wire.resume();
    }
    this.#early = null;
    this.#leave();
  }

  /** Cancels a request that has not begun; it is still answered in its turn. */
  #forget(cancel: CancelFrame): boolean {
    const waiting = this.#early?.find(({ frame }) => frame.id === cancel.id);
    if (waiting) waiting.frame = cancel;
    return waiting !== undefined;
  }

  #identify(token: string | undefined): MaybePromise<Person> {
    const { user, request } = this.#peer;
    return identify(this.#env, request, { token, user });
  }

  async #refresh(token: string): Promise<void> {
    try {
      const connection = this.#connection;
      if (this.#stage !== 'open' || !connection) {
        throw new GatewayError({ code: 'INVALID_REQUEST', message: 'The connection is not open yet' });
      }
      const person = await this.#identify(token);
      const { key: userKey, scope } = connection.person;
      if (person.key !== userKey || person.scope !== scope) {
        throw new GatewayError({ code: 'ACCESS_DENIED', message: 'The token is not of the same user' });
      }
      connection.person = person;
      const { expiresAt } = person;
      this.#desk.send({
        type: 'authenticated',
        ...authExpiry(expiresAt),
      });
    } catch (error) {
      this.#guarded(() => this.#error(error));
    }
  }

  #fault(error: unknown): void {
    if (this.#stage === 'new') return this.fail(error);
    if (!this.#allow()) return;
    if (error instanceof FrameFault && error.id !== undefined) this.#desk.refuse(error.id, error);
    else this.#error(error);
  }

  /** Whether one more frame that is no request is tolerable; if not, the connection is closed. */
  #allow(): boolean {
    const connection = this.#connection;
    if (!connection) return this.#stage === 'opening';
    try {
      this.#env.chatter.take(connection.id);
      return true;
    } catch (error) {
      this.#error(error);
      this.#close(FLOODED);
      return false;
    }
  }

  #error(error: unknown): void {
    if (this.#stage === 'closed') return;
    const frame: ServerFrame = { type: 'error', ...errorBody(error, this.#env.report) };
    this.#desk.send(frame);
  }

  #leave(): void {
    if (this.#leaving && !this.#early?.length && this.#desk.idle) this.#close(this.#leaving);
  }

  #close(end: WireEnd): void {
    if (this.#stage === 'closed') return;
    this.#shut('failed');
    this.#wire.close(end);
  }

  /** @param reason Why the connection ends, unless the gateway has asked it to end before. */
  #shut(reason: ConnectionEndReason): void {
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    clearTimeout(this.#timer);
    this.#early = null;
    this.#connection?.gone(reason);
    this.#desk.close();
  }
}
