import { GatewayError } from '../../shared/errors.js';
import { LimitError } from '../limit-error.js';

export interface RateLimiterOptions {
  /** Sustained rate of one key. A million or more, also `Infinity`, switches the limit off. */
  readonly perSecond: number;
  /** Tokens of a key that was idle. @default twice the rate, at least 1 */
  readonly burst?: number | undefined;
  /** The option that sets the rate, for the log. */
  readonly option?: string | undefined;
  /** Keys remembered at most. The keys that were idle for longest are forgotten first, and start full again. @default 20_000 */
  readonly maxKeys?: number | undefined;
  /** Monotonic milliseconds. */
  readonly now?: (() => number) | undefined;
  /** Called with the key and the number of taken tokens. */
  readonly onTake?: ((key: string, units: number) => void) | undefined;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

const OFF = 1_000_000;
// Sums of fractions fall short by rounding, but a caller that waited for `retryAfterMs` must find its token.
const EPSILON = 1e-6;

/** Token buckets by key. */
export class RateLimiter {
  #perMs = 0;
  #burst = 1;
  readonly #maxKeys: number;
  readonly #option: string | undefined;
  readonly #now: () => number;
  readonly #onTake: ((key: string, units: number) => void) | undefined;
  readonly #fixedBurst: number | undefined;
  #off = false;
  // Two generations forget a key that was idle for the fill time of a bucket, without a loss and without a scan.
  #recent = new Map<string, Bucket>();
  #older = new Map<string, Bucket>();
  #turnedAt: number;

  /** @throws GatewayError `INVALID_REQUEST` for a rate that is not above 0 or a burst below 1. */
  constructor(options: RateLimiterOptions) {
    this.#fixedBurst = options.burst;
    this.#maxKeys = options.maxKeys ?? 20_000;
    this.#option = options.option;
    this.#now = options.now ?? (() => performance.now());
    this.#onTake = options.onTake;
    this.limitTo(options.perSecond);
    this.#turnedAt = this.#now();
  }

  /** Sets the rate. Keys keep what they have, up to the new burst. @throws GatewayError as the constructor */
  limitTo(perSecond: number): void {
    const burst = this.#fixedBurst ?? Math.max(1, perSecond * 2);
    if (!(perSecond > 0)) throw invalid('a rate limit must be above 0 per second');
    if (!(burst >= 1)) throw invalid('the burst of a rate limit must be at least 1');
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#off = perSecond >= OFF;
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  /**
   * Takes tokens of a key.
   *
   * @param units A call that costs more than a whole burst takes all of it.
   * @throws GatewayError `RATE_LIMITED` with the `retryAfterMs` after which there is a token again.
   */
  take(key: string, units = 1): void {
    if (this.#off) return;
    const bucket = this.#filled(key);
    const taken = Math.min(units, this.#burst);
    if (bucket.tokens < taken - EPSILON) {
      const retryAfterMs = Math.max(1, Math.ceil((taken - EPSILON - bucket.tokens) / this.#perMs));
      const error = { code: 'RATE_LIMITED', retryAfterMs } as const;
      throw this.#option === undefined ? new GatewayError(error) : new LimitError(this.#option, error);
    }
    bucket.tokens -= taken;
    this.#onTake?.(key, taken);
  }

  /** Counts tokens that were taken from an equal bucket elsewhere. The bucket may owe as many tokens as it can hold. */
  spend(key: string, count: number): void {
    if (this.#off) return;
    const bucket = this.#filled(key);
    bucket.tokens = Math.max(-this.#burst, bucket.tokens - count);
  }

  #filled(key: string): Bucket {
    const now = this.#now();
    const bucket = this.#bucket(key, now);
    bucket.tokens = Math.min(this.#burst, bucket.tokens + (now - bucket.filledAt) * this.#perMs);
    bucket.filledAt = now;
    return bucket;
  }

  #bucket(key: string, now: number): Bucket {
    const fillMs = this.#burst / this.#perMs;
    if (now - this.#turnedAt >= fillMs) this.#turn(now);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    if (this.#recent.size >= this.#maxKeys / 2) this.#turn(now);
    const bucket = this.#older.get(key) ?? { tokens: this.#burst, filledAt: now };
    this.#older.delete(key);
    this.#recent.set(key, bucket);
    return bucket;
  }

  #turn(now: number): void {
    this.#older = this.#recent;
    this.#recent = new Map();
    this.#turnedAt = now;
  }
}

function invalid(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
