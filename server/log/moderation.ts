import { rootContext } from '../async/async-context.js';
import { type Flush, flushAll } from './flushes.js';
import { GatherControl } from './gather-control.js';
import { type LoadMeter, MACHINE_LOAD } from './load-meter.js';

/** Least time between two looks at the load while pieces come, in milliseconds. */
const LOOK_MS = 50;
/** Time without pieces after which nothing is known of the load any more. */
const FORGOTTEN_MS = 250;
/** Most flushes in one turn of the event loop. More would delay all other work. */
const PER_TURN = 128;

/** A flush that can still be called off. */
export interface DueFlush {
  readonly at: number;
  flush: Flush | null;
}

/**
 * Has pieces of answers wait to be written with the next ones, at most `limits.gatherMs`, while the process has more to do than it can.
 * Looks at its load as pieces come. The time is the same for all logs of a gateway, so the due flushes are one queue ordered by time.
 */
export class Moderation {
  /** Whether pieces of one turn of the event loop become one event. They wait for nothing. */
  readonly joins: boolean;
  readonly #control: GatherControl;
  readonly #meter: LoadMeter;
  #seenAt: number;
  #cpuMs: number;
  #idleMs: number;
  #due: DueFlush[] = [];
  /** Number of flushes at the front of the queue that were taken. */
  #taken = 0;
  #isWaiting = false;

  /**
   * @param maxMs The value of `limits.gatherMs`. 0 gathers nothing.
   * @param meter Measures the process. @default the machine's clocks
   */
  constructor(maxMs: number, meter: LoadMeter = MACHINE_LOAD) {
    this.joins = maxMs > 0;
    this.#control = new GatherControl(maxMs);
    this.#meter = meter;
    this.#seenAt = meter.now();
    this.#cpuMs = meter.cpuMs();
    this.#idleMs = meter.idleMs();
  }

  /** The time that pieces wait now on average, in milliseconds. */
  get waitMs(): number {
    if (this.joins) this.#look(this.#meter.now());
    return this.#control.waitMs;
  }

  /** Calls a flush once new pieces have waited long enough. Null if they should not wait. */
  within(flush: Flush): DueFlush | null {
    if (!this.joins) return null;
    const at = this.#meter.now();
    this.#look(at);
    if (!this.#control.waits()) return null;
    const due = { at, flush };
    this.#due.push(due);
    if (!this.#isWaiting) this.#wait(this.#control.portionMs);
    return due;
  }

  #look(now: number): void {
    const ms = now - this.#seenAt;
    if (ms < LOOK_MS) return;
    const cpuMs = this.#meter.cpuMs();
    const idleMs = this.#meter.idleMs();
    if (ms > FORGOTTEN_MS) this.#control.forget();
    else this.#control.saw({ cpu: (cpuMs - this.#cpuMs) / ms, idle: (idleMs - this.#idleMs) / ms });
    this.#seenAt = now;
    this.#cpuMs = cpuMs;
    this.#idleMs = idleMs;
  }

  #wait(ms: number): void {
    this.#isWaiting = true;
    setTimeout(rootContext, Math.max(1, ms), this.#flushDue);
  }

  readonly #flushDue = (): void => {
    const ripe = this.#meter.now() - this.#control.portionMs;
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
