import { quietTimer } from '../timing.js';
import { asGatewayError } from './failure.js';
import type { HttpOptions, Supplied } from './http-options.js';

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
  /** What to identify with now. */
  read(): Promise<Given>;
  /** The last token ran out: the next is a new one. */
  expired(): void;
  /** New ones, from a refresh that others may wait for too. If the last is only just over: what it brought, unless there is better. */
  refresh(refused?: Given): Promise<Given>;
  /**
   * Has new ones before those of a connection run out. Should nothing come of it, there may be time for another attempt.
   *
   * @param leftMs How long those are still good for, as the gateway counts; undefined for ever.
   * @returns What stops it.
   */
  renew(leftMs: number | undefined, renewed: (given: Given) => void, refused?: Given): () => void;
}

export function createCredentials({ token, headers }: Pick<HttpOptions, 'token' | 'headers'>): Credentials {
  const isRefreshable = [token, headers].some((source) => typeof source === 'function');
  let refreshing: Promise<Given> | undefined;
  let last: { readonly given: Given; readonly at: number } | undefined;
  let isStale = false;
  let minRefreshMs = MIN_REFRESH_MS;

  const ask = async (refresh: boolean): Promise<Given> => {
    try {
      const [now, others] = await Promise.all([read(token, refresh), read(headers, refresh)]);
      return { token: now, headers: others };
    } catch (cause) {
      throw asGatewayError(cause, 'The function for the token or the headers failed');
    }
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
    read: async () => (isStale ? refresh() : (refreshing ?? ask(false))),
    expired: () => {
      isStale = isRefreshable;
    },
    refresh,
    renew: (leftMs = 0, renewed, refused) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const wait = (left: number) => {
        const waitMs = Math.max(left - EARLY_MS, left / 2, minRefreshMs);
        if (!isRefreshable || waitMs >= left) return;
        timer = quietTimer(waitMs, () => {
          wait(left - waitMs);
          refresh(refused).then(renewed, () => {});
        });
      };
      if (leftMs) minRefreshMs = Math.min(MIN_REFRESH_MS, leftMs / 4);
      wait(leftMs);
      return () => clearTimeout(timer);
    },
  };
}

/** The present value of an option. */
async function read<T>(source: Supplied<T> | undefined, refresh: boolean): Promise<T | undefined> {
  return typeof source === 'function'
    ? (source as (context: { refresh: boolean }) => T | Promise<T>)({ refresh })
    : source;
}
