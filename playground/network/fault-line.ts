import type { WebSocketClass, WebSocketLike } from 'agent-session-gateway/client';

/** The state of the line to the gateway. */
export interface LineState {
  readonly offline: boolean;
  readonly slow: boolean;
  /** Number of cuts so far. */
  readonly cuts: number;
}

/** Bytes per second of a slow reader: less than most answers produce. */
const SLOW_BYTES = 2000;

/** The error of a browser without a network. */
const noNetwork = () => new TypeError('Failed to fetch');

/** The page's line to the gateway, which can be cut, offline or slow, like a real network. The client above it does not know. */
export class FaultLine {
  #state: LineState = { offline: false, slow: false, cuts: 0 };
  #open = new AbortController();
  readonly #listeners = new Set<() => void>();

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    if (this.#state.offline) throw noNetwork();
    const line = this.#open.signal;
    const signal = init?.signal ? AbortSignal.any([init.signal, line]) : line;
    const response = await fetch(input, { ...init, signal });
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      return response;
    const { status, headers } = response;
    return new Response(this.#reading(response.body), { status, headers });
  };

  readonly WebSocket: WebSocketClass = socketClass(this);

  readonly getState = (): LineState => this.#state;

  /** Calls the listener after each change. Returns a function that stops this. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls back once, at the next cut. Returns a function that stops this. */
  onCut(listener: () => void): () => void {
    const { signal } = this.#open;
    signal.addEventListener('abort', listener);
    return () => signal.removeEventListener('abort', listener);
  }

  /** Breaks all open connections at once, without a close. */
  cut(): void {
    this.#change({ cuts: this.#state.cuts + 1 });
    this.#break();
  }

  /** Goes offline for a while, and tells the page as browsers do. @param ms Milliseconds */
  goOffline(ms: number): void {
    if (this.#state.offline) return;
    this.#change({ offline: true });
    this.#break();
    dispatchEvent(new Event('offline'));
    setTimeout(() => {
      this.#change({ offline: false });
      dispatchEvent(new Event('online'));
    }, ms);
  }

  /** Switches between slow and normal reading. */
  setSlow(slow: boolean): void {
    this.#change({ slow });
  }

  #break(): void {
    const broken = this.#open;
    this.#open = new AbortController();
    broken.abort(noNetwork());
  }

  #change(change: Partial<LineState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Resolves after the time that a slow reader needs for so many bytes; undefined if the line is not slow. */
  turn(bytes: number): Promise<void> | undefined {
    if (!this.#state.slow) return undefined;
    return new Promise((resolve) => setTimeout(resolve, (bytes / SLOW_BYTES) * 1000));
  }

  /** A body that is read no faster than the line allows. Unread data stays with the gateway. */
  #reading(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
    const reader = body.getReader();
    return new ReadableStream(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          await this.turn(value.length);
          controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }
}

/** Makes a class of WebSockets on a line. */
function socketClass(line: FaultLine): WebSocketClass {
  return class implements WebSocketLike {
    onopen: WebSocketLike['onopen'] = null;
    onmessage: WebSocketLike['onmessage'] = null;
    onclose: WebSocketLike['onclose'] = null;
    onerror: WebSocketLike['onerror'] = null;
    readonly #socket: WebSocket | undefined;
    #over = false;
    #messages: MessageEvent[] = [];
    #reading = false;

    constructor(url: string) {
      if (line.getState().offline) {
        setTimeout(() => this.#end({ code: 1006, reason: '' }));
        return;
      }
      const socket = new WebSocket(url);
      this.#socket = socket;
      const stop = line.onCut(() => {
        this.#end({ code: 1006, reason: '' });
        socket.close();
      });
      socket.onopen = (event) => this.#over || this.onopen?.(event as never);
      socket.onmessage = (event) => {
        this.#messages.push(event);
        void this.#read();
      };
      socket.onclose = (event) => {
        stop();
        this.#end(event);
      };
    }

    get readyState(): number {
      return this.#over ? WebSocket.CLOSED : (this.#socket?.readyState ?? WebSocket.CONNECTING);
    }

    send(data: string): void {
      if (!this.#over) this.#socket?.send(data);
    }

    close(): void {
      this.#socket?.close();
    }

    /** Delivers messages one after the other, in order. */
    async #read(): Promise<void> {
      if (this.#reading) return;
      this.#reading = true;
      while (this.#messages.length > 0) {
        const turn = line.turn(String(this.#messages[0]!.data).length);
        if (turn) await turn;
        const message = this.#messages.shift();
        if (message && !this.#over) this.onmessage?.(message as never);
      }
      this.#reading = false;
    }

    #end(event: { readonly code: number; readonly reason: string }): void {
      if (this.#over) return;
      this.#over = true;
      this.#messages = [];
      this.onclose?.(event as never);
    }
  };
}
