import { useMemo, useSyncExternalStore } from 'react';
import { decoded } from './decoded.js';

export const VIEWS = ['chat', 'timeline', 'network', 'notices', 'calls', 'schedules', 'reference'] as const;
export type View = (typeof VIEWS)[number];

/** The view and the session that the page shows. The URL's fragment keeps them, so that the page needs only one route under any mount. */
export interface Route {
  readonly view: View;
  readonly sessionId: string;
  /** A message to bring into sight. */
  readonly messageId?: string | undefined;
}

export function hrefOf({ view, sessionId, messageId }: Route): string {
  const message = messageId === undefined ? '' : `/${encodeURIComponent(messageId)}`;
  return `#/${view}/${encodeURIComponent(sessionId)}${message}`;
}

function parse(hash: string): Route {
  const [view, sessionId, messageId] = hash.replace(/^#\/?/, '').split('/');
  return {
    view: VIEWS.find((known) => known === view) ?? 'chat',
    sessionId: decoded(sessionId || 'main'),
    messageId: messageId === undefined ? undefined : decoded(messageId),
  };
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => parse(hash), [hash]);
}
