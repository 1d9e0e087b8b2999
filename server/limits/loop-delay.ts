import { LimitError } from '../limit-error.js';

/** How often it is looked. */
const LOOK_MS = 100;
/** Looks in a row that have to find the loop late before new work is refused: one long turn is no overload. */
const LATE_LOOKS = 2;
/** For so long after an overload the next late turn is taken for the same one, which is not over yet. */
const AGAIN_MS = 30_000;
const RETRY_AFTER_MS = 2000;

/** The time of the machine, in milliseconds: a test that turns a clock by hand makes no loop late. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** What is told where a gateway begins or ceases to refuse new work. */
export interface LoopDelayEvents {
  refuses(delayMs: number): void;
  admits(): void;
}

/**
 * Whether the process can take more work, by how late its event loop is: what is accepted would be as late. Work is refused while no turn
 * is in time, as queues of networks drop what comes while the shortest wait is too long (CoDel), and taken again with the first
 * turn that is in time twice over.
 */
export class LoopDelay {
  readonly #limitMs: number;
  readonly #events: LoopDelayEvents;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #delayMs = 0;
  #lateLooks = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #refusing = false;

  /** @param limitMs Of `limits.loopDelayMs`; `Infinity` refuses nothing. */
  constructor(limitMs: number, events: LoopDelayEvents) {
    this.#limitMs = limitMs;
    this.#events = events;
  }

  /** Whether new work is refused. */
  get refusing(): boolean {
    return this.#refusing;
  }

  /** How late the loop was when it was last looked, in milliseconds. */
  get delayMs(): number {
    return this.#delayMs;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#lookedAt = monotonicMs();
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#refusing = false;
  }

  /** @throws GatewayError `OVERLOADED` */
  readonly admit = (): void => {
    if (!this.#refusing) return;
    throw new LimitError('limits.loopDelayMs', {
      code: 'OVERLOADED',
      message: 'The gateway has as much to do as it can',
      retryAfterMs: RETRY_AFTER_MS,
    });
  };

  #look(): void {
    const now = monotonicMs();
    const lateMs = now - this.#lookedAt - LOOK_MS;
    this.#lookedAt = now;
    // Where turns are long the look itself is late by less than one, so the turn that follows is timed as well.
    setImmediate(() => {
      const began = monotonicMs();
      setImmediate(() => this.#saw(Math.max(0, lateMs, monotonicMs() - began)));
    });
  }

  #saw(delayMs: number): void {
    if (this.#timer === undefined) return;
    this.#delayMs = delayMs;
    if (delayMs > this.#limitMs) this.#late(monotonicMs());
    else this.#inTime();
  }

  #late(now: number): void {
    this.#lateLooks += 1;
    const isKnown = now - this.#refusedAt < AGAIN_MS;
    if (!this.#refusing && (isKnown || this.#lateLooks >= LATE_LOOKS)) {
      this.#refusing = true;
      this.#events.refuses(this.#delayMs);
    }
    if (this.#refusing) this.#refusedAt = now;
  }

  #inTime(): void {
    this.#lateLooks = 0;
    if (!this.#refusing || this.#delayMs > this.#limitMs / 2) return;
    this.#refusing = false;
    this.#events.admits();
  }
}
