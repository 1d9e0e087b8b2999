import type { AppEvent, AppResult } from '../../apps/application.js';
import type { MaybePromise } from '../../async/maybe-promise.js';

/** An item that an app may yield. */
export type AppItem = string | AppEvent;
type OutletEnd = { readonly result: AppResult } | { readonly error: unknown };
type OutletResult = IteratorResult<AppItem, AppResult>;

/** Items that may wait before the reply does. */
const MOST_ITEMS = 16;

/** The answer of a run as it is made: items are put in, and the run takes them. One that is there is given at once, without a promise. */
export class RunOutlet implements AsyncIterable<AppItem, AppResult> {
  readonly #begin: () => Promise<AppResult>;
  #items: AppItem[] = [];
  #end: OutletEnd | null = null;
  #taker: { resolve(result: OutletResult): void; reject(error: unknown): void } | null = null;
  #drained: (() => void) | null = null;

  /** @param begin Makes the answer. Its promise settles at the end. */
  constructor(begin: () => Promise<AppResult>) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): AsyncIterator<AppItem, AppResult> {
    this.#begin().then(
      (result) => this.#ended({ result }),
      (error: unknown) => this.#ended({ error }),
    );
    return { next: () => this.#next() as Promise<OutletResult> };
  }

  put(item: AppItem): void {
    const taker = this.#taker;
    if (!taker) return void this.#items.push(item);
    this.#taker = null;
    taker.resolve({ done: false, value: item });
  }

  /** Resolves as `drained` does; undefined also where only a few items wait. */
  get full(): Promise<void> | undefined {
    return this.#items.length > MOST_ITEMS ? this.drained() : undefined;
  }

  /** Resolves once the run has taken all, and asks for more; undefined if that is so. */
  drained(): Promise<void> | undefined {
    if (this.#taker && this.#items.length === 0) return undefined;
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  #next(): MaybePromise<OutletResult> {
    if (this.#items.length > 0) return { done: false, value: this.#items.shift()! };
    const end = this.#end;
    if (end) return 'result' in end ? { done: true, value: end.result } : Promise.reject(end.error);
    const taken = new Promise<OutletResult>((resolve, reject) => {
      this.#taker = { resolve, reject };
    });
    this.#drained?.();
    this.#drained = null;
    return taken;
  }

  #ended(end: OutletEnd): void {
    this.#end = end;
    const taker = this.#taker;
    if (!taker) return;
    this.#taker = null;
    if ('result' in end) taker.resolve({ done: true, value: end.result });
    else taker.reject(end.error);
  }
}
