/** A value that comes later. Its listeners are called as soon as it is known, not in a microtask of their own like those of a promise. */
export interface Later<T> {
  then(succeeded: (value: T) => void, failed: (error: unknown) => void): void;
}

/** A value now or later, like `MaybePromise` without the promise. */
export type MaybeLater<T> = T | Later<T>;

export function isLater<T>(value: MaybeLater<T>): value is Later<T> {
  return typeof (value as Later<T> | undefined)?.then === 'function';
}

/**
 * The future outcome of a piece of work. A promise that one party makes and another one follows costs two promises and a microtask, and
 * Node does bookkeeping for each; this costs none. It can be awaited.
 */
export class Eventual<T> implements Later<T> {
  #state: 'open' | 'succeeded' | 'failed' = 'open';
  #result: unknown;
  #succeeded: ((value: T) => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;

  get isSettled(): boolean {
    return this.#state !== 'open';
  }

  /** Calls back with the outcome, at once if it is known. Listeners are called in the order of their calls. */
  // biome-ignore lint/suspicious/noThenProperty: it stands for a promise, and is awaited as one
  then(succeeded: (value: T) => void, failed: (error: unknown) => void): void {
    if (this.#state === 'succeeded') return succeeded(this.#result as T);
    if (this.#state === 'failed') return failed(this.#result);
    this.#succeeded = inTurn(this.#succeeded, succeeded);
    this.#failed = inTurn(this.#failed, failed);
  }

  /** Only the first of `resolve` and `reject` counts. */
  protected resolve(value: T): void {
    if (this.isSettled) return;
    this.#state = 'succeeded';
    this.#result = value;
    this.#succeeded?.(value);
  }

  protected reject(error: unknown): void {
    if (this.isSettled) return;
    this.#state = 'failed';
    this.#result = error;
    this.#failed?.(error);
  }
}

function inTurn<T>(first: ((it: T) => void) | undefined, second: (it: T) => void): (it: T) => void {
  if (!first) return second;
  return (it) => {
    first(it);
    second(it);
  };
}
