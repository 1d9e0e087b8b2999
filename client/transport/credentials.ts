import type { HttpOptions, Supplied } from '../options.js';

/** A new token is asked for at most so often, whatever is refused meanwhile; more often only where tokens live for less than four times that. */
const MIN_REFRESH_MS = 5000;
/** A new token is asked for this long before the old one runs out, or at half its time if that is later. */
const EARLY_MS = 30_000;

/** What a request identifies itself with. */
export interface Given {
  readonly token?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Where a transport has its token and headers from. Whoever needs new ones at the same time shares one refresh: providers that rotate
 * refresh tokens take two for theft.
 */
export interface Credentials {
  /** Whether there is anything that could be refreshed. */
  readonly isRefreshable: boolean;
  /** How many milliseconds to wait before a token is renewed that is good for `leftMs`; undefined where that would be too late. */
  renewalMs(leftMs: number, isRetry?: boolean): number | undefined;
  /** What to identify with now. */
  read(): Promise<Given>;
  /** The last token ran out: the next is a new one. */
  expired(): void;
  /** New ones, from a refresh that others may wait for too. If the last is only just over: what it brought, unless there is better. */
  refresh(refused?: Given): Promise<Given>;
}

export function createCredentials({ token, headers }: Pick<HttpOptions, 'token' | 'headers'>): Credentials {
  const isRefreshable = [token, headers].some((source) => typeof source === 'function');
  let refreshing: Promise<Given> | undefined;
  let last: { readonly given: Given; readonly at: number } | undefined;
  let isStale = false;
  let minRefreshMs = MIN_REFRESH_MS;

  const ask = async (refresh: boolean): Promise<Given> => {
    const [now, others] = await Promise.all([read(token, refresh), read(headers, refresh)]);
    return { token: now, headers: others };
  };
  const settle = (given: Given): Given => {
    isStale = false;
    refreshing = undefined;
    last = { given, at: performance.now() };
    return given;
  };
  const refresh = async (refused?: Given): Promise<Given> => {
    if (!refreshing && last && performance.now() - last.at < minRefreshMs) {
      const { given } = last;
      const now = await ask(false);
      return now.token === refused?.token ? given : now;
    }
    refreshing ??= ask(true).then(settle, (error) => {
      // Who fails is not asked again at once either.
      settle(refused ?? {});
      throw error;
    });
    return refreshing;
  };
  return {
    isRefreshable,
    renewalMs: (leftMs, isRetry) => {
      if (!isRetry) minRefreshMs = Math.min(MIN_REFRESH_MS, leftMs / 4);
      const waitMs = Math.max(leftMs - EARLY_MS, leftMs / 2, minRefreshMs);
      return isRefreshable && waitMs < leftMs ? waitMs : undefined;
    },
    read: async () => (isStale ? refresh() : (refreshing ?? ask(false))),
    expired: () => {
      isStale = isRefreshable;
    },
    refresh,
  };
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
