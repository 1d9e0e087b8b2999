import type { CallName } from '../../shared/calls.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { StreamItem } from '../../shared/frames.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import type { Supplied } from '../options.js';
import { quietTimer, raceSignal } from '../timing.js';
import { Credentials } from './credentials.js';
import { isSilence, unsent } from './failure.js';
import { FrameSocket, type OpenFrameWire, type PendingRequest } from './frame-socket.js';
import type { ClientTransport, Link, LinkHandlers, TransportOptions } from './transport.js';

/** How long a socket without a link waits for the next request. */
const IDLE_MS = 5000;
/** Items of a streaming method that may wait here for their consumer. */
const WINDOW = 64;
/** A socket that was silent is given more time the next time, up to so many times as much: a big event may be on its way. */
const MOST_PATIENCE = 16;

/** How to speak frames. */
export interface FrameTransportOptions {
  readonly name: string;
  readonly open: OpenFrameWire;
  readonly token: Supplied<string | null | undefined> | undefined;
}

interface OpenLink extends Link {
  /** Whether the socket was opened for it, so that its `connected` is this link's. */
  readonly isFirst: boolean;
  /** Whether `connected` was passed on. */
  started: boolean;
  emit(event: GatewayEvent): void;
  finish(error?: GatewayError): void;
}

/**
 * A transport over one socket for everything: requests, their answers and the events of all sessions. It is opened by the first
 * request or link, and closed with its link, or when it was idle for some seconds. A link beside another has a socket of its own.
 */
export class FrameTransport implements ClientTransport {
  readonly name: string;
  readonly isGuarded = true;
  readonly #open: OpenFrameWire;
  readonly #credentials: Credentials;
  readonly #links = new Map<FrameSocket, OpenLink>();
  /** For requests. */
  #socket: FrameSocket | undefined;
  #patience = 1;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor({ name, open, token }: FrameTransportOptions) {
    this.name = name;
    this.#open = open;
    this.#credentials = new Credentials({ token });
  }

  /** Connects, unless it is. @throws GatewayError what the gateway refused, or `NETWORK` */
  async connect(): Promise<void> {
    const socket = this.#present();
    await socket.ready;
    this.#rest(socket);
  }

  async request(operation: CallName, params: unknown, { signal }: TransportOptions): Promise<unknown> {
    const socket = await this.#connected(signal);
    const { heard } = socket;
    let pending: PendingRequest | undefined;
    try {
      return await raceSignal(
        signal,
        () =>
          new Promise((resolve, reject) => {
            pending = socket.request(operation, params, {
              onChunk: () => {
                pending?.cancel();
                reject(misused('The method is a stream: call it with stream()'));
              },
              onEnd: resolve,
              onFail: reject,
            });
          }),
      );
    } catch (error) {
      pending?.cancel();
      // Nothing at all came since: the next request had better take another socket.
      if (signal.reason?.code === 'TIMEOUT' && socket.heard === heard) socket.retire();
      throw error;
    }
  }

  async *stream(params: unknown, { signal }: TransportOptions): AsyncGenerator<StreamItem> {
    const socket = await this.#connected(signal);
    let wake = () => {};
    let end: { readonly error?: GatewayError } | undefined;
    let items: StreamItem[] = [];
    let taken = 0;
    const settle = (error?: GatewayError) => {
      end ??= error ? { error } : {};
      wake();
    };
    const aborted = () => settle(signal.reason);
    const pending = socket.request(
      'invoke',
      params,
      {
        onChunk: (item) => {
          items.push(item);
          wake();
        },
        onEnd: (payload) => settle(payload === undefined ? undefined : misused('The method is not a stream')),
        onFail: settle,
      },
      WINDOW,
    );
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
    try {
      for (;;) {
        const ready = items;
        items = [];
        for (const item of ready) {
          yield item;
          taken += 1;
          if (taken < WINDOW / 2) continue;
          pending.more(taken);
          taken = 0;
        }
        if (items.length > 0) continue;
        if (end?.error) throw end.error;
        if (end) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', aborted);
      pending.cancel();
    }
  }

  open(targets: readonly SubscribeTarget[], handlers: LinkHandlers): Link {
    const adopted = this.#socket && !this.#links.has(this.#socket) ? this.#socket : undefined;
    const socket = adopted ?? this.#dial(targets);
    clearTimeout(this.#idle);
    socket.hold(true);
    const link = this.#attach(socket, handlers, !adopted);
    if (adopted) void this.#adopt(socket, link);
    return link;
  }

  close(): void {
    clearTimeout(this.#idle);
    for (const socket of this.#links.keys()) socket.close();
    this.#socket?.close();
  }

  #attach(socket: FrameSocket, handlers: LinkHandlers, isFirst: boolean): OpenLink {
    let over = false;
    const link: OpenLink = {
      isFirst,
      started: false,
      emit: (event) => {
        if (!over) handlers.onEvent(event);
      },
      finish: (error) => {
        if (over) return;
        over = true;
        this.#links.delete(socket);
        handlers.onClose({ error, retryMs: error?.retryAfterMs });
      },
      subscribe: async (change) => {
        await new Promise((resolve, reject) =>
          socket.request('subscribe', change, { onChunk: () => {}, onEnd: resolve, onFail: reject }),
        );
      },
      close: () => {
        link.finish();
        socket.retire();
      },
    };
    this.#links.set(socket, link);
    return link;
  }

  /** Begins a link on a socket that was opened for requests: its sessions are asked for. */
  async #adopt(socket: FrameSocket, link: OpenLink): Promise<void> {
    try {
      const connected = await socket.ready;
      link.started = true;
      link.emit({ ...connected, sessions: {} });
    } catch (error) {
      link.finish(error as GatewayError);
      socket.retire();
    }
  }

  async #connected(signal: AbortSignal): Promise<FrameSocket> {
    for (;;) {
      if (signal.aborted) throw signal.reason;
      const socket = this.#present();
      clearTimeout(this.#idle);
      try {
        await raceSignal(signal, () => socket.ready);
      } catch (error) {
        // A fresh error for each: whoever repeats its request asks whether it was sent.
        if (signal.aborted) throw error;
        throw unsent(GatewayError.fromJSON((error as GatewayError).toJSON()));
      } finally {
        this.#rest(socket);
      }
      // It may have ended meanwhile: nothing was sent, so another one can be tried.
      if (!socket.isEnded) return socket;
    }
  }

  #present(): FrameSocket {
    this.#socket ??= this.#dial([]);
    return this.#socket;
  }

  #dial(targets: readonly SubscribeTarget[]): FrameSocket {
    let beats = 0;
    const socket: FrameSocket = new FrameSocket(
      { open: this.#open, targets, credentials: this.#credentials, patience: this.#patience },
      {
        onEvent: (event) => {
          // The first heartbeat comes at once and says little of the line.
          if (event.type === 'heartbeat') beats += 1;
          if (beats > 1 || (event.type !== 'heartbeat' && event.type !== 'connected')) this.#patience = 1;
          const link = this.#links.get(socket);
          if (link?.isFirst) link.started = true;
          if (link?.started) link.emit(event);
        },
        onEnd: (error) => {
          if (error && isSilence(error)) this.#patience = Math.min(this.#patience * 2, MOST_PATIENCE);
          const link = this.#links.get(socket);
          this.#links.delete(socket);
          if (this.#socket === socket) [this.#socket] = this.#links.keys();
          link?.finish(error);
        },
        onIdle: () => this.#rest(socket),
      },
    );
    this.#socket ??= socket;
    return socket;
  }

  /** Lets a socket go that nobody uses for some time. */
  #rest(socket: FrameSocket): void {
    if (this.#links.has(socket) || !socket.isIdle) return;
    socket.hold(false);
    clearTimeout(this.#idle);
    this.#idle = quietTimer(IDLE_MS, () => socket.isIdle && !this.#links.has(socket) && socket.retire());
  }
}

function misused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', status: 400, message });
}
