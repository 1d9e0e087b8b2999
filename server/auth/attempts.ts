import crypto from 'node:crypto';
import { GatewayError } from '../../shared/errors.js';
import { addressKey } from './address.js';

export interface AttemptLimits {
  /** Failures of one address within `windowMs` after which it is refused. @default 10 */
  readonly limit?: number | undefined;
  /** @default 60_000 */
  readonly windowMs?: number | undefined;
  /** The largest number of remembered addresses, and of good tokens. The oldest are forgotten first. @default 10_000 */
  readonly maxEntries?: number | undefined;
  /** Monotonic milliseconds. */
  readonly now?: (() => number) | undefined;
}

const STRONG_LENGTH = 32;

/**
 * Limits how often an address may fail to authenticate. A blocked address is refused without a check, so that it learns nothing. Refusals
 * do not prolong the block: the address may try again as its failures leave the window.
 *
 * An address may be shared (a proxy, an office). So a token that was good before and is too long to be guessed passes the block and is
 * verified as usual: failures of others do not lock its bearer out.
 */
export class AttemptLimiter {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #maxEntries: number;
  readonly #now: () => number;
  /** Times of the last failures of each address, oldest first. */
  readonly #failures = new Map<string, number[]>();
  readonly #good = new Set<string>();

  constructor(limits: AttemptLimits = {}) {
    this.#limit = limits.limit ?? 10;
    this.#windowMs = limits.windowMs ?? 60_000;
    this.#maxEntries = limits.maxEntries ?? 10_000;
    this.#now = limits.now ?? (() => performance.now());
  }

  /**
   * Admits an attempt.
   *
   * @throws GatewayError `RATE_LIMITED` with `retryAfterMs` while the address is blocked.
   */
  admit(ip: string, token: string): void {
    if (this.#failures.size === 0) return;
    const key = addressKey(ip);
    const times = this.#failures.get(key);
    if (times === undefined || times.length < this.#limit) return;
    const retryAfterMs = Math.ceil((times[0] ?? 0) + this.#windowMs - this.#now());
    if (retryAfterMs <= 0) return;
    if (token.length >= STRONG_LENGTH && this.#good.has(digest(token))) return;
    throw new GatewayError({
      code: 'RATE_LIMITED',
      message: 'Too many failed attempts to authenticate',
      retryAfterMs,
    });
  }

  /** Counts a refused token against its address. */
  fail(ip: string, token: string): void {
    const key = addressKey(ip);
    const times = this.#failures.get(key) ?? [];
    times.push(this.#now());
    if (times.length > this.#limit) times.shift();
    this.#failures.delete(key);
    this.#failures.set(key, times);
    dropOldest(this.#failures, this.#maxEntries);
    if (this.#good.size > 0) this.#good.delete(digest(token));
  }

  /** Remembers a good token. Short ones are not remembered, since passing the block would make them guessable. */
  remember(token: string): void {
    if (token.length < STRONG_LENGTH) return;
    this.#good.add(digest(token));
    dropOldest(this.#good, this.#maxEntries);
  }
}

function dropOldest(
  entries: { readonly size: number; keys(): Iterator<string>; delete(key: string): boolean },
  max: number,
): void {
  if (entries.size <= max) return;
  const oldest = entries.keys().next();
  if (!oldest.done) entries.delete(oldest.value);
}

function digest(token: string): string {
  return crypto.hash('sha256', token, 'base64');
}
