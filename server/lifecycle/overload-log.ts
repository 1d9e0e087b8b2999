import type { Logger } from '../config/config.js';

/** Time after the lines of one overload in which further ones are only counted, in milliseconds. */
const QUIET_MS = 60_000;

/** Logs overload: the first time at once, and then a line a minute with counts for as long as it comes and goes. */
export class OverloadLog {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #gateway: string;
  #timer: NodeJS.Timeout | undefined;
  #times = 0;
  #asked = 0;
  #refused = 0;
  #latestMs = 0;
  /** Whether counts were written since it began. */
  #isLong = false;
  /** Whether the line of the first end was written. */
  #hasEnded = false;

  constructor(logger: Pick<Logger, 'warn'>, gateway: string) {
    this.#logger = logger;
    this.#gateway = gateway;
  }

  /** Counts new work that was let in or refused. */
  asked(isRefused: boolean): void {
    this.#asked += 1;
    if (isRefused) this.#refused += 1;
  }

  /** @param why The rest of a sentence that says what is near its limit, and which. */
  refuses(why: string, delayMs: number): void {
    this.#latestMs = Math.max(this.#latestMs, delayMs);
    this.#times += 1;
    if (this.#timer) return;
    this.#hasEnded = false;
    this.#say({ delayMs: Math.round(delayMs) }, `new work is refused: ${why}`);
    this.#begin();
  }

  admits(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#say({}, 'new work is taken again');
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #begin(): void {
    [this.#times, this.#asked, this.#refused, this.#latestMs] = [0, 0, 0, 0];
    this.#timer = setTimeout(() => this.#sumUp(), QUIET_MS).unref();
  }

  #sumUp(): void {
    this.#timer = undefined;
    const [times, asked, refused] = [this.#times, this.#asked, this.#refused];
    if (times + refused === 0) {
      if (this.#isLong) this.#say({}, `nothing was refused in ${QUIET_MS / 1000} s`);
      this.#isLong = false;
      return;
    }
    this.#isLong = true;
    const delayMs = Math.round(this.#latestMs);
    this.#say(
      { times, asked, refused, delayMs },
      `refused ${refused} of ${asked} in ${QUIET_MS / 1000} s: overloaded ${times} times more, the event loop up to ${delayMs} ms late`,
    );
    this.#begin();
  }

  #say(details: object, message: string): void {
    this.#logger.warn({ ...details, gateway: this.#gateway }, message);
  }
}
