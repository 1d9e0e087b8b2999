import { isPromise, type MaybePromise } from './maybe-promise.js';
import { SharedTimer, type TimedWork } from './shared-timer.js';

/** Bounds the wait for answers, all by the same time limit. */
export class Deadlines {
  readonly #ms: number;
  readonly #timer = new SharedTimer();

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
      const waiting: TimedWork = { dueAt: performance.now() + this.#ms, timeUp: () => reject(late()) };
      this.#timer.add(waiting);
      answer.then(
        (value) => {
          this.#timer.delete(waiting);
          resolve(value);
        },
        (error: unknown) => {
          this.#timer.delete(waiting);
          reject(error);
        },
      );
    });
  }
}
