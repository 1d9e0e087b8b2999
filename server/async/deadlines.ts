import { MAX_DELAY_MS } from './deadline.js';
import { isPromise, type MaybePromise } from './maybe-promise.js';

interface Pending {
  readonly at: number;
  readonly late: () => unknown;
  reject(error: unknown): void;
}

/** Bounds the wait for answers, all by the same time and with one timer, because most answers come long before it fires. */
export class Deadlines {
  readonly #ms: number;
  /** Pending answers, in the order of their deadlines. */
  readonly #pending = new Set<Pending>();
  #timer: NodeJS.Timeout | null = null;

  /** @param ms Longest wait; `Infinity` waits forever. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** The same answer, or a rejection with the error that `late` returns. The work goes on, and its later outcome is dropped. */
  bound<T>(answer: Promise<T>, late: () => unknown): Promise<T>;
  bound<T>(answer: MaybePromise<T>, late: () => unknown): MaybePromise<T>;
  bound<T>(answer: MaybePromise<T>, late: () => unknown): MaybePromise<T> {
    if (!isPromise(answer) || this.#ms === Number.POSITIVE_INFINITY) return answer;
    return new Promise<T>((resolve, reject) => {
      const call: Pending = { at: performance.now() + this.#ms, late, reject };
      this.#pending.add(call);
      if (!this.#timer) this.#wait(this.#ms);
      answer.then(
        (value) => {
          this.#pending.delete(call);
          resolve(value);
        },
        (error: unknown) => {
          this.#pending.delete(call);
          reject(error);
        },
      );
    });
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(this.#check, Math.min(ms, MAX_DELAY_MS)).unref();
  }

  readonly #check = (): void => {
    this.#timer = null;
    const now = performance.now();
    for (const call of this.#pending) {
      if (call.at > now) {
        return this.#wait(call.at - now);
      }
      this.#pending.delete(call);
      call.reject(call.late());
    }
  };
}
