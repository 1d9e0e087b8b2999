import { startDeadline } from '../async/deadline.js';
import type { Subscription } from '../delivery/subscription.js';
import type { LogBatch } from '../log/batch.js';

/** What is to happen when nobody has come back for so long. */
export interface Desertion {
  readonly afterMs: number;
  end(): void;
}

/** What hears of a session's viewers. */
export interface ViewersHost {
  /** The last one left. Null where that changes nothing. */
  deserted(): Desertion | null;
  /** Somebody came or left. */
  changed(): void;
}

/** Who follows a session's events here, and who waits for a run without following. */
export class Viewers {
  readonly #host: ViewersHost;
  readonly #subscriptions = new Set<Subscription>();
  #waiting = 0;
  /** Takes back that the session is deserted. */
  #stay: () => void = () => {};

  constructor(host: ViewersHost) {
    this.#host = host;
  }

  /** Whether somebody follows the events. */
  get watching(): boolean {
    return this.#subscriptions.size > 0;
  }

  get any(): boolean {
    return this.watching || this.#waiting > 0;
  }

  attach(subscription: Subscription): void {
    this.#stay();
    this.#subscriptions.add(subscription);
    this.#host.changed();
  }

  /** @param left Whether its receiver went away, rather than that it has all it wanted. */
  detach(subscription: Subscription, left: boolean): void {
    this.#subscriptions.delete(subscription);
    this.#leave(left);
  }

  /** Counts somebody who waits for a run's result without following its events. Call what it returns when they no longer do. */
  wait(): (left: boolean) => void {
    this.#stay();
    this.#waiting += 1;
    return (left) => {
      this.#waiting -= 1;
      this.#leave(left);
    };
  }

  #leave(left: boolean): void {
    if (left) this.leftElsewhere();
    this.#host.changed();
  }

  /** The last one at another gateway left. */
  leftElsewhere(): void {
    if (this.any) return;
    this.#stay();
    const desertion = this.#host.deserted();
    if (desertion)
      this.#stay = startDeadline(desertion.afterMs, () => {
        if (!this.any) desertion.end();
      });
  }

  /** There may be more to read. `batch` is what was just committed, if that is why. */
  wake(batch?: LogBatch): void {
    for (const subscription of this.#subscriptions) subscription.pump(batch);
  }

  /** Their log can't be served here any more. */
  interrupt(): void {
    for (const subscription of [...this.#subscriptions]) subscription.interrupt();
  }
}
