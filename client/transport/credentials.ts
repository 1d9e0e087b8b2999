import { quietTimer } from '../timing.js';
import { asGatewayError } from './failure.js';
import type { HttpOptions, Supplied } from './http-options.js';
import type { CredentialsChange } from './transport.js';

/** The least time between two refreshes, whatever is refused meanwhile; less only if tokens live for less than four times that. */
const MIN_REFRESH_MS = 5000;
/** The refresh comes this long before the old token runs out, or at half its time if that is later. */
const EARLY_MS = 30_000;

/** The credentials of a request. */
export interface RequestCredentials {
  readonly token?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The source of a transport's token and headers. Requests that need new ones at the same time share one refresh, since providers that rotate refresh
 * tokens take two for theft.
 */
export interface CredentialSource {
  /** Whether there is anything to refresh. */
  readonly isRefreshable: boolean;
  /** The present credentials. */
  read(): Promise<RequestCredentials>;
  /** The last token ran out: the next read gives a new one. */
  expired(): void;
  /**
   * New credentials, from a refresh that others may wait for too. If the last refresh is only just over, its result, unless there is a better one.
   */
  refresh(refused?: RequestCredentials): Promise<RequestCredentials>;
  /** The gateway has taken the present credentials for a link. */
  confirm(): void;
  /** Whether the token is another one than the gateway has taken for a link. A function that takes its time is not asked. */
  look(): CredentialsChange | undefined;
  /**
   * Provides new credentials before those of a connection run out, early enough for another attempt if the first one fails.
   *
   * @param leftMs How long the old ones are still good for, by the gateway's clock; undefined for ever.
   * @returns A function that stops it.
   */
  renew(
    leftMs: number | undefined,
    renewed: (given: RequestCredentials) => void,
    refused?: RequestCredentials,
  ): () => void;
}

export function createCredentials({
  token,
  headers,
}: Pick<HttpOptions, 'token' | 'headers'>): CredentialSource {
  const isRefreshable = [token, headers].some((source) => typeof source === 'function');
  let refreshing: Promise<RequestCredentials> | undefined;
  let last: { readonly given: RequestCredentials; readonly at: number } | undefined;
  let isStale = false;
  let minRefreshMs = MIN_REFRESH_MS;
  /** The last token, that of the last link, undefined before the first one, and that of the last refresh, which links go on with. */
  let latest: string | undefined;
  let taken: string | undefined;
  let fresh: string | undefined;
  let isSlow = true;
  /** Whether each call of the function gives another token, which tells nothing of who is there. */
  let isMinting = false;

  const ask = async (refresh: boolean): Promise<RequestCredentials> => {
    try {
      const asked = read(token, refresh);
      isSlow = typeof asked === 'object' && !!asked;
      const [now, others] = await Promise.all([asked, read(headers, refresh)]);
      if (refresh) fresh = now ?? '';
      else latest = now ?? '';
      return { token: now, headers: others };
    } catch (cause) {
      throw asGatewayError(cause, 'The function for the token or the headers failed');
    }
  };
  const settle = (given: RequestCredentials): RequestCredentials => {
    isStale = false;
    refreshing = undefined;
    last = { given, at: performance.now() };
    return given;
  };
  const refresh = async (refused?: RequestCredentials): Promise<RequestCredentials> => {
    if (!refreshing && last && performance.now() - last.at < minRefreshMs) {
      const { given } = last;
      const now = await ask(false);
      return now.token === refused?.token ? given : now;
    }
    refreshing ??= ask(true).then(settle, (error) => {
      // A source that fails is not asked again at once either.
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
    confirm: () => {
      taken = latest;
    },
    look: () => {
      if (taken === undefined || isMinting) return;
      const now = () => (isSlow ? latest : ((read(token, false) as string | null | undefined) ?? ''));
      try {
        latest = now();
        const before = taken;
        if (latest === before || latest === fresh) return;
        const [was, is] = [personIn(before), personIn(latest!)];
        if (!was && before && latest && now() !== latest) isMinting = true;
        if (isMinting) return;
        taken = latest;
        if (was && was === is) return 'same';
        return (was && is) || !before || !latest ? 'other' : 'unknown';
      } catch {
        // The next request reports it.
        return;
      }
    },
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

/** The subject of a JWT, in its tenant; undefined for any other token. */
function personIn(token: string): string | undefined {
  try {
    const { sub, tenantId } = JSON.parse(atob(token.split('.')[1]!.replace(/-/g, '+').replace(/_/g, '/')));
    return sub && `${tenantId} ${sub}`;
  } catch {
    return undefined;
  }
}

/** The present value of an option. */
function read<T>(source: Supplied<T> | undefined, refresh: boolean): T | undefined | Promise<T | undefined> {
  return typeof source === 'function'
    ? (source as (context: { refresh: boolean }) => T | Promise<T>)({ refresh })
    : source;
}
