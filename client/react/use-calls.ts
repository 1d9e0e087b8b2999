import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { GatewayError } from '../../shared/gateway-error.js';
import type { CallOptions } from '../../shared/method.js';
import type { ParamsOf, SessionSummary } from '../../shared/operation-types.js';
import { type ConnectionHealth, healthOf } from '../hooks/health.js';
import { useGateway } from './provider.js';

/** The health of the connection, for a person. On a server `connecting`. */
export function useConnection(): ConnectionHealth {
  const { connection } = useGateway();
  const { subscribe, getSnapshot } = useMemo(() => healthOf(connection), [connection]);
  return useSyncExternalStore(subscribe, getSnapshot, () => 'connecting' as const);
}

/** The state of the last call. */
export interface CallState<Result> {
  readonly data: Result | undefined;
  readonly error: GatewayError | undefined;
  readonly isPending: boolean;
}

/** A method and the state of its last call. */
export interface MethodHandle<Args extends unknown[], Result> extends CallState<Result> {
  /** Calls the method. The promise may be ignored: a failure is in `error` as well. */
  readonly invoke: (...args: Args) => Promise<Result>;
}

const NOTHING = { data: undefined, error: undefined, isPending: false };

/** Keeps the state of the last call. */
function useCall<Args extends unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
  start: CallState<Result> = NOTHING,
) {
  const [state, setState] = useState(start);
  const last = useRef<Promise<Result>>(undefined);
  const run = useCallback(
    (...args: Args) => {
      const result = call(...args);
      last.current = result;
      setState(({ data }) => ({ data, error: undefined, isPending: true }));
      const over = (next: (old: CallState<Result>) => Partial<CallState<Result>>) => {
        if (last.current === result) setState((old) => ({ ...old, isPending: false, ...next(old) }));
      };
      result.then(
        (data) => over(() => ({ data })),
        (error) => over(() => ({ error })),
      );
      return result;
    },
    [call],
  );
  return { ...state, run, last };
}

/** A method of the gateway for event handlers, and the state of its last call. */
export function useMethod(path: string): MethodHandle<[params?: unknown, options?: CallOptions], unknown> {
  const client = useGateway();
  const call = useCallback(
    (params?: unknown, options?: CallOptions) => client.invoke(path, params, options),
    [client, path],
  );
  const { run: invoke, data, error, isPending } = useCall(call);
  return { invoke, data, error, isPending };
}

/** The user's sessions, the last used first, as they were last read. */
export interface SessionList {
  /** Undefined until they were read. */
  readonly sessions: readonly SessionSummary[] | undefined;
  readonly hasMore: boolean;
  readonly error: GatewayError | undefined;
  readonly isPending: boolean;
  /** Reads them again from the first. */
  readonly refresh: () => void;
  /** Reads the next page. */
  readonly loadMore: () => void;
}

/** Which sessions are listed, and how many of them to a page (`limit`, 50 by default). */
export type SessionListOptions = Omit<ParamsOf<'sessions'>, 'before'>;

/** The user's sessions, read when the component mounts, when the options change, and by `refresh`. */
export function useSessions(options: SessionListOptions = {}): SessionList {
  const client = useGateway();
  const wanted = JSON.stringify(options);
  const read = useCallback(
    async (signal?: AbortSignal, old?: LoadedPage): Promise<LoadedPage> => {
      const given = JSON.parse(wanted) as SessionListOptions;
      const page = await client.sessions({ ...given, signal, before: old?.cursor ?? undefined });
      return { ...page, sessions: [...(old?.sessions ?? []), ...page.sessions] };
    },
    [client, wanted],
  );
  const { run, last, data, error, isPending } = useCall(read, { ...NOTHING, isPending: true });
  useEffect(() => {
    const left = new AbortController();
    run(left.signal).catch(() => {});
    return () => {
      last.current = undefined;
      left.abort();
    };
  }, [run, last]);
  return {
    sessions: data?.sessions,
    hasMore: !!data?.cursor,
    error,
    isPending,
    refresh: useCallback(() => void run().catch(() => {}), [run]),
    loadMore: () => {
      if (data?.cursor && !isPending) run(undefined, data).catch(() => {});
    },
  };
}

interface LoadedPage {
  readonly sessions: readonly SessionSummary[];
  readonly cursor: string | null;
}
