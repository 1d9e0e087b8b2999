import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { createSessionStore, type SessionOptions, type SessionView } from '../hooks/session-store.js';
import { useGateway } from './provider.js';

/** Selects a part of a session. The component renders again only when that part changes. */
export interface SelectOptions<T, View = SessionView> {
  readonly select: (view: View) => T;
  /** @default Object.is */
  readonly isEqual?: ((a: T, b: T) => boolean) | undefined;
}

/**
 * A session, followed for as long as a component shows it. Components that show the same session share it. Growing text renders at most once a frame,
 * everything else at once. Unmounting ends no run. On a server it opens nothing and renders `initial`.
 *
 * @param id The session's key. `initial` is read once for each id.
 *
 * @example
 * ```ts
 * const { messages, run, status, send, abort } = useSession('main');
 * const count = useSession('main', { select: (session) => session.messages.length });
 * ```
 */
export function useSession<T>(id: string, options: SessionOptions & SelectOptions<T>): T;
export function useSession(id: string, options?: SessionOptions): SessionView;
export function useSession<T>(id: string, options: SessionOptions & Partial<SelectOptions<T>> = {}): T {
  const { app, initial, select = all as (view: SessionView) => T, isEqual = Object.is } = options;
  const client = useGateway();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a server rendered is where the session begins, and nothing later
  const store = useMemo(() => createSessionStore(client, id, { app, initial }), [client, id, app]);
  const rendered = useRef<{ readonly value: T }>(undefined);
  const [get, getOnServer] = useMemo(() => {
    let seen: SessionView | undefined;
    let kept: { readonly value: T } | undefined;
    const pick = (view: SessionView): T => {
      if (kept && seen === view) return kept.value;
      const value = select(view);
      const old = kept ?? rendered.current;
      seen = view;
      kept = old && isEqual(old.value, value) ? old : { value };
      return kept.value;
    };
    return [() => pick(store.getSnapshot()), () => pick(store.getServerSnapshot())];
  }, [store, select, isEqual]);
  const value = useSyncExternalStore(store.subscribe, get, getOnServer);
  useEffect(() => {
    rendered.current = { value };
  }, [value]);
  return value;
}

/** Selects the whole session. */
export const all = (view: SessionView): SessionView => view;
