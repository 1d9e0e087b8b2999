import { performance } from 'node:perf_hooks';
import { rootContext } from '../async/async-context.js';

type Flush = () => void;

/** The flushes that run at the end of the present step of the event loop. */
let requested: Flush[] = [];

/** Calls a flush at the end of the present step of the event loop, together with all others requested in it, outside every async context. */
export function flushSoon(flush: Flush): void {
  if (requested.push(flush) === 1) process.nextTick(rootContext, flushDue);
}

function flushDue(): void {
  const flushes = requested;
  requested = [];
  flushAll(flushes);
}

/** Flushes one after the other. */
function flushAll(flushes: readonly Flush[]): void {
  for (const flush of flushes) {
    try {
      flush();
    } catch (error) {
      // Throw it as an uncaught error, so that the other flushes still run.
      process.nextTick(() => {
        throw error;
      });
    }
  }
}

/** Interval at which the load of the event loop is measured while pieces come, in milliseconds. */
const LOOK_MS = 50;
/** Share of busy time above which the event loop counts as busy. Below `ROOM` it counts as free. */
const BUSY = 0.75;
const ROOM = 0.55;
/** Most flushes in one turn of the event loop. More would delay all other work. */
const PER_TURN = 128;

/** A flush that can still be called off. */
export interface DueFlush {
  readonly at: number;
  flush: Flush | null;
}

/**
 * Decides how long pieces of answers wait to be written with the next ones: not at all while the event loop has room, and up to
 * `limits.gatherMs` while it is busy. Network cards do the same (Linux NAPI): an interrupt per packet at low rates, polling at high ones.
 * The time is the same for all logs of a gateway, so the due flushes are one queue ordered by time.
 */
export class Moderation {
  readonly #maxMs: number;
  #waitMs = 0;
  #seen = performance.eventLoopUtilization();
  #seenAt = performance.now();
  #due: DueFlush[] = [];
  /** Number of flushes at the front of the queue that were taken. */
  #taken = 0;
  #isWaiting = false;

  /** @param maxMs The value of `limits.gatherMs`. 0 gathers nothing. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** The time that a new piece waits now, in milliseconds. */
  get waitMs(): number {
    if (this.#maxMs > 0) this.#look(performance.now());
    return this.#waitMs;
  }

  /** Calls a flush once new pieces have waited long enough. Null if they should not wait. */
  within(flush: Flush): DueFlush | null {
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
    const flushes: Flush[] = [];
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
