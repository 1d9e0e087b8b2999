import { useGateway } from 'agent-session-gateway/client/react';
import { useCallback, useSyncExternalStore } from 'react';

/** Drafts by their sessions, for each client. */
const drafts = new WeakMap<object, Map<string, string>>();
const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Asks the storage of this tab. Some browsers refuse it, and it may be full: drafts are then kept as long as the page. */
function stored<T>(ask: (storage: Storage) => T): T | undefined {
  try {
    return ask(sessionStorage);
  } catch {
    return undefined;
  }
}

/**
 * What somebody has written for a session and not sent: it is there again when they come back to the session.
 *
 * @param user The id of who writes. With it a draft outlives a reload of this tab, and nobody else sees it who logs in there.
 *
 * @example
 * ```tsx
 * const [text, setText] = useDraft('main', user.id);
 * ```
 */
export function useDraft(sessionId: string, user?: string): readonly [string, (text: string) => void] {
  const client = useGateway();
  const name = user === undefined ? undefined : `draft ${JSON.stringify([user, sessionId])}`;
  const read = useCallback(
    () =>
      drafts.get(client)?.get(sessionId) ??
      (name === undefined ? undefined : stored((storage) => storage.getItem(name))) ??
      '',
    [client, sessionId, name],
  );
  const write = useCallback(
    (text: string) => {
      const own = drafts.get(client) ?? new Map<string, string>();
      drafts.set(client, own.set(sessionId, text));
      if (name !== undefined) {
        stored((storage) => (text === '' ? storage.removeItem(name) : storage.setItem(name, text)));
      }
      for (const listener of listeners) listener();
    },
    [client, sessionId, name],
  );
  return [useSyncExternalStore(subscribe, read, () => ''), write];
}
