import type { Supplied } from '../options.js';

/** A new token is asked for at most so often, whatever is refused meanwhile; more often only where tokens live for less than four times that. */
const MIN_REFRESH_MS = 5000;
/** A new token is asked for this long before the old one runs out, or at half its time if that is later. */
const EARLY_MS = 30_000;

type Token = string | null | undefined;

/** What a request identifies itself with. */
export interface Given {
  readonly token?: Token;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Where a transport has its token and headers from. Whoever needs new ones at the same time shares one refresh: providers that rotate
 * refresh tokens take two for theft.
 */
export class Credentials {
  readonly #token: Supplied<Token> | undefined;
  readonly #headers: Supplied<Readonly<Record<string, string>>> | undefined;
  #refreshing: Promise<Given> | undefined;
  #refreshed: { readonly given: Given; readonly at: number } | undefined;
  #isStale = false;
  #minRefreshMs = MIN_REFRESH_MS;

  constructor(options: {
    readonly token?: Supplied<Token> | undefined;
    readonly headers?: Supplied<Readonly<Record<string, string>>> | undefined;
  }) {
    this.#token = options.token;
    this.#headers = options.headers;
  }

  /** Whether there is anything that could be refreshed. */
  get isRefreshable(): boolean {
    return typeof this.#token === 'function' || typeof this.#headers === 'function';
  }

  /** How many milliseconds to wait before a token is renewed that is good for `leftMs`; undefined where that would be too late. */
  renewalMs(leftMs: number, isRetry = false): number | undefined {
    if (!this.isRefreshable) return undefined;
    if (!isRetry) this.#minRefreshMs = Math.min(MIN_REFRESH_MS, leftMs / 4);
    const waitMs = Math.max(leftMs - EARLY_MS, leftMs / 2, this.#minRefreshMs);
    return waitMs < leftMs ? waitMs : undefined;
  }

  /** What to identify with now. */
  async read(): Promise<Given> {
    if (this.#isStale) return this.refresh();
    return this.#refreshing ?? this.#ask(false);
  }

  /** The last token ran out: the next is a new one. */
  expired(): void {
    this.#isStale = this.isRefreshable;
  }

  /** New ones, from a refresh that others may wait for too. If the last is only just over: what it brought, unless there is better. */
  async refresh(refused?: Given): Promise<Given> {
    const last = this.#refreshed;
    if (!this.#refreshing && last && performance.now() - last.at < this.#minRefreshMs) {
      const given = await this.#ask(false);
      return given.token === refused?.token ? last.given : given;
    }
    this.#refreshing ??= this.#ask(true).then(
      (given) => this.#settle(given),
      async (error) => {
        // Who fails is not asked again at once either.
        this.#settle(refused ?? {});
        throw error;
      },
    );
    return this.#refreshing;
  }

  #settle(given: Given): Given {
    this.#isStale = false;
    this.#refreshing = undefined;
    this.#refreshed = { given, at: performance.now() };
    return given;
  }

  async #ask(refresh: boolean): Promise<Given> {
    const [token, headers] = await Promise.all([read(this.#token, refresh), read(this.#headers, refresh)]);
    return { token, headers };
  }
}

/** Milliseconds the token of a connection is still good for: what the gateway counts, or by its clock, never by this one. */
export function leftOf(event: {
  readonly authExpiresInMs?: number;
  readonly authExpiresAt?: number;
  readonly ts?: number;
}): number | undefined {
  const { authExpiresInMs, authExpiresAt, ts } = event;
  return (
    authExpiresInMs ?? (authExpiresAt !== undefined && ts !== undefined ? authExpiresAt - ts : undefined)
  );
}

/** The present value of an option. */
async function read<T>(source: Supplied<T> | undefined, refresh: boolean): Promise<T | undefined> {
  return typeof source === 'function'
    ? (source as (context: { refresh: boolean }) => T | Promise<T>)({ refresh })
    : source;
}
