import type { CallName } from '../../shared/calls.js';
import type { GatewayEvent } from '../../shared/events.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import type { Source } from '../options.js';
import { quietTimer } from '../timing.js';
import { FrameSocket } from './frame-socket.js';
import type { OpenFrameWire } from './frame-wire.js';
import { read } from './http.js';
import type { ClientTransport, Link, LinkHandlers, TransportOptions } from './transport.js';

/** How long a socket without a link waits for the next request. */
const IDLE_MS = 5000;

/** How to speak frames. */
export interface FrameTransportOptions {
  readonly name: string;
  readonly open: OpenFrameWire;
  readonly token: Source<string | null | undefined> | undefined;
}

interface OpenLink extends Link {
  readonly socket: FrameSocket;
  /** Whether the socket was opened for it, so that its `connected` is this link's. */
  readonly isFirst: boolean;
  /** Whether `connected` was passed on. */
  started: boolean;
  emit(event: GatewayEvent): void;
  finish(error?: GatewayError): void;
}

/**
 * A transport over one socket for everything: requests, their answers and the events of all sessions. It is opened by the first
 * request or link, and closed with its link, or when it was idle for some seconds.
 */
export class FrameTransport implements ClientTransport {
  readonly name: string;
  readonly #options: FrameTransportOptions;
  #socket: FrameSocket | undefined;
  #link: OpenLink | undefined;
  /** The last token ran out. */
  #refresh = false;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(options: FrameTransportOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Connects, unless it is. @throws GatewayError what the gateway refused, or `NETWORK` */
  async connect(): Promise<void> {
    const socket = this.#present();
    await socket.ready;
    this.#rest(socket);
  }

  async request(operation: CallName, params: unknown, { signal }: TransportOptions): Promise<unknown> {
    const socket = await this.#connected(signal);
    return new Promise((resolve, reject) => {
      const aborted = () => {
        cancel();
        reject(signal.reason);
      };
      const release = () => signal.removeEventListener('abort', aborted);
      const cancel = socket.request(operation, params, {
        onChunk: () => {
          release();
          cancel();
          reject(misused('The method is a stream'));
        },
        onEnd: (payload) => {
          release();
          resolve(payload);
        },
        onFail: (error) => {
          release();
          reject(error);
        },
      });
      signal.addEventListener('abort', aborted);
    });
  }

  async *stream(params: unknown, { signal }: TransportOptions): AsyncGenerator<unknown> {
    const socket = await this.#connected(signal);
    let wake = () => {};
    let end: { readonly error?: GatewayError } | undefined;
    const items: unknown[] = [];
    const settle = (error?: GatewayError) => {
      end ??= error ? { error } : {};
      wake();
    };
    const aborted = () => settle(signal.reason);
    const cancel = socket.request('invoke', params, {
      onChunk: (item) => {
        items.push(item);
        wake();
      },
      onEnd: (payload) => settle(payload === undefined ? undefined : misused('The method is not a stream')),
      onFail: settle,
    });
    signal.addEventListener('abort', aborted);
    try {
      for (;;) {
        yield* items.splice(0);
        if (items.length > 0) continue;
        if (end?.error) throw end.error;
        if (end) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', aborted);
      cancel();
    }
  }

  open(targets: readonly SubscribeTarget[], handlers: LinkHandlers): Link {
    this.#link?.close();
    const adopted = this.#socket;
    const socket = adopted ?? this.#dial(targets);
    clearTimeout(this.#idle);
    socket.hold(true);
    const link = this.#attach(socket, handlers, !adopted);
    if (adopted) void this.#adopt(link, targets);
    return link;
  }

  close(): void {
    this.#socket?.close();
  }

  #attach(socket: FrameSocket, handlers: LinkHandlers, isFirst: boolean): OpenLink {
    let over = false;
    const link: OpenLink = {
      socket,
      isFirst,
      started: false,
      emit: (event) => {
        if (!over) handlers.onEvent(event);
      },
      finish: (error) => {
        if (over) return;
        over = true;
        if (this.#link === link) this.#link = undefined;
        handlers.onClose(error ? { error } : {});
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
    this.#link = link;
    return link;
  }

  /** Begins a link on a socket that was opened for requests. */
  async #adopt(link: OpenLink, targets: readonly SubscribeTarget[]): Promise<void> {
    try {
      const connected = await link.socket.ready;
      link.started = true;
      link.emit({ ...connected, sessions: {} });
      if (targets.length > 0 && !link.socket.isEnded) await link.subscribe({ add: targets });
    } catch (error) {
      link.finish(error as GatewayError);
      link.socket.retire();
    }
  }

  async #connected(signal: AbortSignal): Promise<FrameSocket> {
    for (;;) {
      signal.throwIfAborted();
      const socket = this.#present();
      clearTimeout(this.#idle);
      let aborted = () => {};
      const gone = new Promise<never>((_, reject) => {
        aborted = () => reject(signal.reason);
        signal.addEventListener('abort', aborted);
      });
      try {
        await Promise.race([socket.ready, gone]);
      } finally {
        signal.removeEventListener('abort', aborted);
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
    const { open, token } = this.#options;
    const refresh = this.#refresh;
    this.#refresh = false;
    const socket: FrameSocket = new FrameSocket(
      { open, targets, token: async (again) => read(token, again) },
      {
        onEvent: (event) => {
          const link = this.#link;
          if (link?.socket !== socket) return;
          if (link.isFirst) link.started = true;
          if (link.started) link.emit(event);
        },
        onEnd: (error) => {
          if (this.#socket === socket) this.#socket = undefined;
          if (socket.expired) this.#refresh = true;
          if (this.#link?.socket === socket) this.#link.finish(error);
        },
        onIdle: () => this.#rest(socket),
      },
      refresh,
    );
    this.#socket = socket;
    return socket;
  }

  /** Lets a socket go that nobody uses for some time. */
  #rest(socket: FrameSocket): void {
    if (this.#link?.socket === socket || !socket.isIdle) return;
    socket.hold(false);
    clearTimeout(this.#idle);
    this.#idle = quietTimer(IDLE_MS, () => socket.isIdle && this.#link?.socket !== socket && socket.retire());
  }
}

function misused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', status: 400, message });
}
