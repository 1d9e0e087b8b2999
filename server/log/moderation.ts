import { performance } from 'node:perf_hooks';
import { rootContext } from '../async/async-context.js';
import { flushAll } from './flushes.js';

/** How often the loop is looked at, while pieces come. */
const LOOK_MS = 50;
/** The loop is busy above this share of its time, and has room below the other. */
const BUSY = 0.75;
const ROOM = 0.55;
/** Flushes of one turn of the loop: more would be a wave that holds up all others. */
const PER_TURN = 64;

/** A flush that may still be called off. */
export interface DueFlush {
  readonly at: number;
  flush: (() => void) | null;
}

/**
 * How long pieces of answers wait for those that follow, to be written with them: not at all while the event loop has room, and up to
 * `limits.gatherMs` while it is busy. Network cards do the same (Linux NAPI): an interrupt for each packet while there are few, polling
 * when there are many. The time is the same for all logs of a gateway, so what is due is one queue in order of time.
 */
export class Moderation {
  readonly #maxMs: number;
  #waitMs = 0;
  #seen = performance.eventLoopUtilization();
  #seenAt = performance.now();
  #due: DueFlush[] = [];
  /** Those of the queue that were taken. */
  #taken = 0;
  #isWaiting = false;

  /** @param maxMs Of `limits.gatherMs`; 0 gathers nothing. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** How long a piece waits now, in milliseconds. */
  get waitMs(): number {
    if (this.#maxMs > 0) this.#look(performance.now());
    return this.#waitMs;
  }

  /** Calls back once pieces that come now have waited long enough; null where they are not to wait. */
  within(flush: () => void): DueFlush | null {
    if (this.#maxMs === 0) return null;
    const at = performance.now();
    this.#look(at);
    if (this.#waitMs === 0) return null;
    const due = { at, flush };
    this.#due.push(due);
    if (!this.#isWaiting) this.#wait(this.#waitMs);
    return due;
  }

  #look(now: number): void {
    if (now - this.#seenAt < LOOK_MS) return;
    const seen = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(seen, this.#seen);
    this.#seen = seen;
    this.#seenAt = now;
    const step = this.#maxMs / 4;
    if (utilization > BUSY) this.#waitMs = Math.min(this.#maxMs, this.#waitMs + step);
    else if (utilization < ROOM) this.#waitMs = Math.max(0, this.#waitMs - step);
  }

  #wait(ms: number): void {
    this.#isWaiting = true;
    setTimeout(rootContext, Math.max(1, ms), this.#flushDue);
  }

  readonly #flushDue = (): void => {
    const ripe = performance.now() - this.#waitMs;
    const flushes: (() => void)[] = [];
    let next = this.#due[this.#taken];
    while (next && flushes.length < PER_TURN && next.at <= ripe) {
      if (next.flush) flushes.push(next.flush);
      next = this.#due[++this.#taken];
    }
    flushAll(flushes);
    if (this.#taken > PER_TURN && this.#taken * 2 > this.#due.length) {
      this.#due = this.#due.slice(this.#taken);
      this.#taken = 0;
    }
    if (!next) this.#isWaiting = false;
    else if (next.at <= ripe) setImmediate(rootContext, this.#flushDue);
    else this.#wait(next.at - ripe);
  };
}
