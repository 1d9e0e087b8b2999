import { LimitError } from '../limit-error.js';

/** Time between two looks at the event loop, in milliseconds. */
const LOOK_MS = 100;
/** Consecutive looks that must find the loop late before new work is refused: one long turn is no overload. */
const LATE_LOOKS = 2;
/** Time after an overload in which a single late turn counts as the same overload, in milliseconds. */
const AGAIN_MS = 30_000;
const RETRY_AFTER_MS = 2000;
/** Times the limit of lateness at which readers are turned away, too: new streams, subscriptions, lists and histories. */
const READERS_AT = 4;
/** Times the limit at which new connections are cut before they have said anything. */
const CONNECTIONS_AT = 16;

/** Timers of the machine: fake clocks of tests leave them alone, and need not stop ten times a second on the way to tomorrow. */
const { setInterval, clearInterval } = globalThis;
/** The machine's monotonic time in milliseconds, which fake clocks of tests do not change. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Called when a gateway begins or ceases to refuse new work. */
export interface LoopDelayEvents {
  refuses(delayMs: number): void;
  admits(): void;
}

/**
 * Decides by the delay of the event loop whether the process takes more work, which would be as late. It refuses work while no turn is in
 * time, like a network queue that drops packets while the shortest wait is too long (CoDel). It takes work again with the first turn
 * within half the limit.
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

  /** @param limitMs Value of `limits.loopDelayMs`; `Infinity` refuses nothing. */
  constructor(limitMs: number, events: LoopDelayEvents) {
    this.#limitMs = limitMs;
    this.#events = events;
  }

  /** Whether new work is refused. */
  get refusing(): boolean {
    return this.#refusing;
  }

  /** Delay of the loop at the last look, in milliseconds. */
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

  /** Whether new readers are turned away: those that are there have the loop to themselves. */
  get turnsAway(): boolean {
    return this.#refusing && this.#delayMs > READERS_AT * this.#limitMs;
  }

  /** Whether new connections are cut. */
  get cuts(): boolean {
    return this.#refusing && this.#delayMs > CONNECTIONS_AT * this.#limitMs;
  }

  /** Refuses reads and subscriptions under heavier load than `admit` refuses new work. @throws GatewayError `OVERLOADED` */
  readonly admitReader = (): void => {
    if (this.turnsAway) this.#refuse();
  };

  /**
   * @param isSmall Whether the caller's tenant has less than its share of the work. It is refused no earlier than readers.
   * @throws GatewayError `OVERLOADED`
   */
  readonly admit = (isSmall?: () => boolean): void => {
    if (this.#refusing && (this.turnsAway || !isSmall?.())) this.#refuse();
  };

  #refuse(): never {
    throw new LimitError('limits.loopDelayMs', {
      code: 'OVERLOADED',
      message: 'The gateway has too much to do now; try again later',
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  #look(): void {
    const now = monotonicMs();
    const lateMs = now - this.#lookedAt - LOOK_MS;
    this.#lookedAt = now;
    // The look itself is late by less than one long turn, so the turn behind it is timed as well.
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
