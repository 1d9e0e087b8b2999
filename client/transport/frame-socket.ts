import type { EventOf, GatewayEvent } from '../../shared/events.js';
import type { ClientFrame, ServerFrame } from '../../shared/frames.js';
import { GatewayError, isGatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import { PROTOCOL_RANGE } from '../../shared/version.js';
import { quietTimer } from '../timing.js';
import type { FrameWire, OpenFrameWire } from './frame-wire.js';

/** Time for a socket to be connected. */
const CONNECT_MS = 10_000;
/** A new token is asked for this long before the old one runs out, or at half its time if that is later. */
const REFRESH_MS = 30_000;

/** What a request is told. Exactly one of `onEnd` and `onFail` is called, once. */
export interface RequestHandlers {
  onChunk(item: unknown): void;
  onEnd(payload: unknown): void;
  onFail(error: GatewayError): void;
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
  token(refresh: boolean): Promise<string | null | undefined>;
}

/** One connection to the gateway: the handshake, requests and their answers, events. It does not reconnect. */
export class FrameSocket {
  /** Rejects when the gateway refuses the connection or cannot be reached. */
  readonly ready: Promise<EventOf<'connected'>>;
  readonly #options: SocketOptions;
  readonly #handlers: SocketHandlers;
  readonly #pending = new Map<string, RequestHandlers>();
  #wire: FrameWire | undefined;
  #connected!: (event: EventOf<'connected'>) => void;
  #refused!: (error: GatewayError) => void;
  #open = false;
  #ended = false;
  /** Whether its last token was good once: then it ran out, and its source has to be told. */
  expired = false;
  #lastId = 0;
  /** At first for whoever had it opened. */
  #held = true;
  #timer: ReturnType<typeof setTimeout>;

  constructor(options: SocketOptions, handlers: SocketHandlers, refresh: boolean) {
    this.#options = options;
    this.#handlers = handlers;
    this.ready = new Promise((resolve, reject) => {
      this.#connected = resolve;
      this.#refused = reject;
    });
    this.ready.catch(() => {});
    this.#timer = quietTimer(CONNECT_MS, () => this.#end(networkError()));
    void this.#dial(refresh);
  }

  /** Whether it takes no more requests. */
  get isEnded(): boolean {
    return this.#ended;
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** Sends a request; only once it is connected. Returns what cancels it. */
  request(method: string, params: unknown, handlers: RequestHandlers): () => void {
    const id = String(++this.#lastId);
    this.#pending.set(id, handlers);
    this.hold(true);
    this.#send({ type: 'req', id, method, params });
    return () => {
      if (!this.#pending.delete(id)) return;
      this.#send({ type: 'cancel', id });
      this.#settled();
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
  close(): void {
    this.#end();
    this.#cut();
  }

  async #dial(refresh: boolean): Promise<void> {
    let refusal: GatewayError | undefined;
    try {
      const token = await this.#options.token(refresh);
      if (this.#ended) return;
      const wire = this.#options.open({
        onOpen: () => {
          const { targets } = this.#options;
          this.#send({
            type: 'connect',
            protocol: PROTOCOL_RANGE,
            ...(token && { token }),
            ...(targets.length > 0 && { subscribe: targets }),
          });
        },
        onText: (text) => {
          const frame = readFrame(text);
          if (!frame) this.#end(networkError());
          else if (frame.type === 'error' && !this.#open) refusal = GatewayError.fromJSON(frame);
          else this.#take(frame);
        },
        onClose: () => {
          if (this.#wire !== wire) return;
          // A refused token is read again once.
          if (refusal?.status === 401 && !refresh && !this.#ended) void this.#dial(true);
          else this.#closed(refusal);
        },
      });
      this.#wire = wire;
      wire.hold?.(this.#held);
    } catch (cause) {
      this.#end(isGatewayError(cause) ? cause : networkError(cause));
    }
  }

  #take(frame: ServerFrame): void {
    switch (frame.type) {
      case 'event':
        this.#event({ ...(frame.data as object), type: frame.event } as GatewayEvent);
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
        this.#expires(frame.authExpiresAt);
        break;
      case 'error':
        this.#end(GatewayError.fromJSON(frame));
        break;
    }
  }

  #event(event: GatewayEvent): void {
    if (event.type === 'connected') {
      this.#open = true;
      clearTimeout(this.#timer);
      this.#expires(event.authExpiresAt);
      this.#connected(event);
    }
    if (event.type === 'auth_expired') this.expired = true;
    if (!this.#ended) this.#handlers.onEvent(event);
  }

  /** Refreshes the token before it runs out, so that the connection outlives it. */
  #expires(at: number | undefined): void {
    if (at === undefined) return;
    const leftMs = at - Date.now();
    const refresh = async () => {
      const token = await this.#options.token(true);
      if (token && !this.#ended) this.#send({ type: 'auth', token });
    };
    clearTimeout(this.#timer);
    // When it fails, the connection ends with its token and is opened again.
    const waitMs = Math.min(Math.max(leftMs - REFRESH_MS, leftMs / 2), 2 ** 31 - 1);
    this.#timer = quietTimer(waitMs, () => refresh().catch(() => {}));
  }

  #settled(): void {
    if (this.#pending.size > 0) return;
    if (this.#ended) this.#cut();
    else this.#handlers.onIdle();
  }

  #closed(error?: GatewayError): void {
    this.#wire = undefined;
    this.#end(error);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const request of pending) request.onFail(networkError());
  }

  #end(error?: GatewayError): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#refused(error ?? networkError());
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

function networkError(cause?: unknown): GatewayError {
  const message = 'The connection to the gateway failed';
  return new GatewayError({ code: 'NETWORK', message, ...(cause !== undefined && { cause }) });
}

/** Undefined for what is no frame of a gateway. */
function readFrame(text: string): ServerFrame | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
