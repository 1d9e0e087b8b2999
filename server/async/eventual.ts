/** Something that comes later. What waits for it is told as soon as it is there: not in a microtask of its own, as by a promise. */
export interface Later<T> {
  then(succeeded: (value: T) => void, failed: (error: unknown) => void): void;
}

/** A value now or later, as `MaybePromise` without the promise. */
export type MaybeLater<T> = T | Later<T>;

export function isLater<T>(value: MaybeLater<T>): value is Later<T> {
  return typeof (value as Later<T> | undefined)?.then === 'function';
}

/**
 * What will come of a piece of work. A promise that one party makes and another one follows costs two promises and a microtask, and Node
 * keeps books about each of them; this costs none. It can be awaited.
 */
export class Eventual<T> implements Later<T> {
  #state: 'open' | 'succeeded' | 'failed' = 'open';
  #result: unknown;
  #succeeded: ((value: T) => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;

  get isSettled(): boolean {
    return this.#state !== 'open';
  }

  /** Tells of the outcome, now where it is known. Each is told in the order in which it asked. */
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
