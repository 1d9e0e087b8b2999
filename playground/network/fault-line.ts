import type { WebSocketClass, WebSocketLike } from 'agent-session-gateway/client';

/** How the line to the gateway is. */
export interface LineState {
  readonly offline: boolean;
  readonly slow: boolean;
  /** How often it was cut. */
  readonly cuts: number;
}

/** What a slow reader takes in a second, in bytes: less than most answers bring. */
const SLOW_BYTES = 2000;

/** What a browser rejects with when there is no network. */
const noNetwork = () => new TypeError('Failed to fetch');

/**
 * The page's way to the gateway, which can be cut, be away and be slow, as networks are: below the client, which knows nothing of it.
 */
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

  /** Calls the listener after each change. Returns what stops it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls back once, when what is open now is cut. Returns what stops it. */
  onCut(listener: () => void): () => void {
    const { signal } = this.#open;
    signal.addEventListener('abort', listener);
    return () => signal.removeEventListener('abort', listener);
  }

  /** Ends all that is open, at once and without a word. */
  cut(): void {
    this.#change({ cuts: this.#state.cuts + 1 });
    this.#break();
  }

  /** Has no network for a while, and tells the page as browsers do. @param ms Milliseconds */
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

  /** Reads slowly, or as it comes. */
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

  /** Resolves when something has been read that is so long. */
  turn(bytes: number): Promise<void> | undefined {
    if (!this.#state.slow) return undefined;
    return new Promise((resolve) => setTimeout(resolve, (bytes / SLOW_BYTES) * 1000));
  }

  /** A body that is read no faster than the line allows: what is not read stays with the gateway. */
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

/** A class of WebSockets on a line. */
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

    /** In order, one after the other. */
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
