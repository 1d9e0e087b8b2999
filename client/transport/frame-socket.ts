import { EventReader } from '../../shared/event-reader.js';
import type { EventOf, GatewayEvent } from '../../shared/events.js';
import type { ClientFrame, ServerFrame } from '../../shared/frames.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import { PROTOCOL_RANGE } from '../../shared/version.js';
import { quietTimer, Watchdog } from '../timing.js';
import { type Credentials, type Given, leftOf } from './credentials.js';
import { asGatewayError, silence } from './failure.js';
import { toJson } from './http.js';

/** Time for a socket to be connected. */
const CONNECT_MS = 10_000;
/** Silence of this many heartbeats ends a socket. */
const SILENT_HEARTBEATS = 2.5;

/** A socket that carries frames as texts. */
export interface FrameWire {
  send(text: string): void;
  close(): void;
  /** Whether somebody waits for this socket; where the runtime allows it, an idle one keeps no process alive. */
  hold?(busy: boolean): void;
}

/** What a socket reports. Never called before the opening call has returned. */
export interface FrameWireHandlers {
  onOpen(): void;
  onText(text: string): void;
  /** Bytes came, of a text that is not whole yet. */
  onProgress?(): void;
  /** Called exactly once, also when it could not be opened or was closed from here. */
  onClose(): void;
}

/** Makes one attempt to open a socket. @throws GatewayError where there is no such thing as this kind of socket */
export type OpenFrameWire = (handlers: FrameWireHandlers) => FrameWire;

/** What a request is told. Exactly one of `onEnd` and `onFail` is called, once. */
export interface RequestHandlers {
  onChunk(item: unknown): void;
  onEnd(payload: unknown): void;
  onFail(error: GatewayError): void;
}

/** A request under way. */
export interface PendingRequest {
  /** Lets go of it; a method call is ended by it. */
  cancel(): void;
  /** Allows so many more chunks. */
  more(count: number): void;
}

/** What a socket tells its owner. */
export interface SocketHandlers {
  onEvent(event: GatewayEvent): void;
  /** It takes no more requests: the gateway closes it, or it broke. Called once. */
  onEnd(error?: GatewayError): void;
  /** Nobody waits for it any more. */
  onIdle(): void;
}

/** What a socket is opened with. */
export interface SocketOptions {
  readonly open: OpenFrameWire;
  readonly targets: readonly SubscribeTarget[];
  readonly credentials: Credentials;
  /** How many times as long as usual it may be silent. */
  readonly patience: number;
}

/** One connection to the gateway: the handshake, requests and their answers, events. It does not reconnect. */
export class FrameSocket {
  /** Rejects when the gateway refuses the connection or cannot be reached. */
  readonly ready: Promise<EventOf<'connected'>>;
  readonly #options: SocketOptions;
  readonly #handlers: SocketHandlers;
  readonly #pending = new Map<string, RequestHandlers>();
  readonly #events = new EventReader();
  readonly #watchdog = new Watchdog(() => this.close(silence()));
  #wire: FrameWire | undefined;
  #connected!: (event: EventOf<'connected'>) => void;
  #refused!: (error: GatewayError) => void;
  #given: Given = {};
  /** The last `error` frame: why the connection is closed, if it is. */
  #complaint: GatewayError | undefined;
  #open = false;
  #ended = false;
  #lastId = 0;
  /** At first for whoever had it opened. */
  #held = true;
  /** How far this clock is ahead of the gateway's. */
  #clockAheadMs = 0;
  #timer: ReturnType<typeof setTimeout>;
  /** Frames that came; one that comes after a request shows that the socket is alive. */
  heard = 0;

  constructor(options: SocketOptions, handlers: SocketHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.ready = new Promise((resolve, reject) => {
      this.#connected = resolve;
      this.#refused = reject;
    });
    this.ready.catch(() => {});
    this.#timer = quietTimer(CONNECT_MS, () => this.close(networkError('was not made in time')));
    void this.#dial(false);
  }

  /** Whether it takes no more requests. */
  get isEnded(): boolean {
    return this.#ended;
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /**
   * Sends a request; only once it is connected.
   *
   * @param window Chunks that may come before `more` allows more.
   * @throws GatewayError `INVALID_REQUEST` for params that are no JSON
   */
  request(method: string, params: unknown, handlers: RequestHandlers, window?: number): PendingRequest {
    const id = String(++this.#lastId);
    const text = toJson({ type: 'req', id, method, params, window });
    this.#pending.set(id, handlers);
    this.hold(true);
    this.#wire?.send(text);
    return {
      cancel: () => {
        if (!this.#pending.delete(id)) return;
        this.#send({ type: 'cancel', id });
        this.#settled();
      },
      more: (count) => {
        if (this.#pending.has(id)) this.#send({ type: 'more', id, count });
      },
    };
  }

  /** Has the runtime wait for this socket, or not. */
  hold(busy: boolean): void {
    this.#held = busy;
    this.#wire?.hold?.(busy);
  }

  /** Takes no more requests and closes once those under way are answered. */
  retire(): void {
    this.#end();
  }

  /** Closes it at once. Requests without an answer fail with `NETWORK`. */
  close(error?: GatewayError): void {
    this.#end(error);
    this.#cut();
  }

  async #dial(again: boolean): Promise<void> {
    const { credentials, open, targets } = this.#options;
    this.#complaint = undefined;
    try {
      this.#given = again ? await credentials.refresh(this.#given) : await credentials.read();
      if (this.#ended) return;
      const { token } = this.#given;
      const wire = open({
        onOpen: () =>
          this.#send({
            type: 'connect',
            protocol: PROTOCOL_RANGE,
            ...(token && { token }),
            ...(targets.length > 0 && { subscribe: targets }),
          }),
        onText: (text) => {
          if (this.#wire === wire) this.#read(text);
        },
        onProgress: () => this.#watchdog.heard(),
        onClose: () => {
          if (this.#wire !== wire) return;
          const refusal = this.#complaint;
          const mayTry = refusal?.status === 401 && !this.#open && !again && credentials.isRefreshable;
          // A refused token is read again once.
          if (mayTry && !this.#ended) void this.#dial(true);
          else this.#closed(refusal);
        },
      });
      this.#wire = wire;
      wire.hold?.(this.#held);
    } catch (cause) {
      this.#end(asGatewayError(cause, 'No connection to the gateway can be made'));
    }
  }

  #read(text: string): void {
    let frame: ServerFrame;
    try {
      frame = JSON.parse(text);
    } catch {
      return this.close(networkError('brought what is no frame'));
    }
    this.heard += 1;
    this.#watchdog.heard();
    this.#take(frame);
  }

  #take(frame: ServerFrame): void {
    switch (frame.type) {
      case undefined:
        this.#event(this.#events.read(frame.event, frame.data, frame.id));
        break;
      case 'chunk':
        this.#pending.get(frame.id)?.onChunk(frame.data);
        break;
      case 'res': {
        const request = this.#pending.get(frame.id);
        if (!request) break;
        this.#pending.delete(frame.id);
        if (frame.ok) request.onEnd(frame.payload);
        else request.onFail(GatewayError.fromJSON(frame.error));
        this.#settled();
        break;
      }
      case 'ping':
        this.#send({ type: 'pong', timestamp: frame.timestamp });
        break;
      case 'authenticated':
        this.#renewAfter(leftOf({ ts: Date.now() - this.#clockAheadMs, ...frame }));
        break;
      case 'error':
        // A new token that is refused, or why the connection is closed next: until then it goes on.
        this.#complaint = GatewayError.fromJSON(frame);
        if (frame.code === 'SHUTTING_DOWN') this.#end(this.#complaint);
        break;
    }
  }

  #event(event: GatewayEvent): void {
    if (event.type === 'connected') {
      this.#open = true;
      clearTimeout(this.#timer);
      this.#watchdog.start(event.heartbeatMs * SILENT_HEARTBEATS * this.#options.patience);
      this.#clockAheadMs = event.ts === undefined ? 0 : Date.now() - event.ts;
      this.#renewAfter(leftOf(event));
      this.#connected(event);
    }
    if (event.type === 'auth_expired') this.#options.credentials.expired();
    if (!this.#ended) this.#handlers.onEvent(event);
  }

  /** Renews the token before it runs out, so that the connection outlives it. A refusal changes nothing until then. */
  #renewAfter(leftMs: number | undefined, isRetry = false): void {
    const { credentials } = this.#options;
    clearTimeout(this.#timer);
    const waitMs = leftMs === undefined ? undefined : credentials.renewalMs(leftMs, isRetry);
    if (waitMs === undefined) return;
    const renew = async () => {
      // Should nothing come of it, there may be time for another attempt.
      this.#renewAfter(leftMs! - waitMs, true);
      const { token } = await credentials.refresh(this.#given);
      if (!token || this.#ended) return;
      this.#given = { token };
      this.#send({ type: 'auth', token });
    };
    this.#timer = quietTimer(waitMs, () => void renew().catch(() => {}));
  }

  #settled(): void {
    if (this.#pending.size > 0) return;
    if (this.#ended) this.#cut();
    else this.#handlers.onIdle();
  }

  #closed(error?: GatewayError): void {
    this.#wire = undefined;
    this.#watchdog.stop();
    this.#end(error);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const request of pending) request.onFail(networkError('broke'));
  }

  #end(error?: GatewayError): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#refused(error ?? networkError('failed'));
    this.#handlers.onEnd(error);
    if (this.#pending.size === 0) this.#cut();
  }

  #cut(): void {
    const wire = this.#wire;
    this.#closed();
    wire?.close();
  }

  #send(frame: ClientFrame): void {
    this.#wire?.send(JSON.stringify(frame));
  }
}

function networkError(what: string): GatewayError {
  return new GatewayError({ code: 'NETWORK', message: `The connection to the gateway ${what}` });
}
