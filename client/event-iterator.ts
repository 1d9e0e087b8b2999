import type { GatewayError } from '../shared/gateway-error.js';

/** Items an iterator holds before it asks its source to stop. */
const CAPACITY = 4096;

type Waiter<T> = (result: IteratorResult<T> | Promise<IteratorResult<T>>) => void;

/** Where an iterator's items come from. */
export interface IteratorSource {
  /** The consumer left before the end. */
  left(): void;
  /** Everything pushed so far was consumed. */
  drained?(): void;
}

/** An async iterator that is pushed to. Leaving it, by `break` or a signal, drops what it holds and ends nothing else. */
export class EventIterator<T> implements AsyncIterableIterator<T> {
  readonly #source: IteratorSource;
  readonly #signal: AbortSignal | undefined;
  readonly #leave = () => void this.return();
  readonly #waiters: Waiter<T>[] = [];
  #items: T[] = [];
  #error: GatewayError | undefined;
  over = false;

  constructor(source: IteratorSource, signal?: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    this.over = !!signal?.aborted;
    signal?.addEventListener('abort', this.#leave);
  }

  get isFull(): boolean {
    return this.#items.length >= CAPACITY;
  }

  push(item: T): void {
    const waiter = this.#waiters.shift();
    if (waiter) waiter({ done: false, value: item });
    else if (!this.over) this.#items.push(item);
  }

  /** Ends the iteration after what it holds; an error is thrown once. */
  end(error?: GatewayError): void {
    if (this.over) return;
    this.over = true;
    this.#error = error;
    this.#signal?.removeEventListener('abort', this.#leave);
    for (const waiter of this.#waiters.splice(0)) waiter(this.#finish());
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.#items.length > 0) {
      const value = this.#items.shift()!;
      if (this.#items.length === 0) this.#source.drained?.();
      return { done: false, value };
    }
    return this.over ? this.#finish() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  async return(): Promise<IteratorResult<T>> {
    const wasOver = this.over;
    this.end();
    this.#items = [];
    if (!wasOver) this.#source.left();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #finish(): Promise<IteratorResult<T>> {
    const error = this.#error;
    this.#error = undefined;
    if (error) throw error;
    return { done: true, value: undefined };
  }
}
