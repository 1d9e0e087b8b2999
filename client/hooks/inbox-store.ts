import type { InboxRow, InboxTotals } from '../../shared/inbox/contract.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import { type ClientInbox, clientInbox } from '../inbox/client-inbox.js';
import type { ClientPerson } from '../person.js';
import type { Observable } from './session-store.js';

/** An inbox, for display. */
export interface InboxView extends InboxTotals {
  /** The last used session first: the 50 newest, and all that have changed since. */
  readonly sessions: readonly InboxRow[];
  /** The error if it could not be read. */
  readonly error?: unknown;
  /** Whether it was not read yet. */
  readonly isLoading: boolean;
}

/** An inbox as an interface reads it. */
export interface InboxStore extends Observable<InboxView>, Pick<ClientInbox, 'read'> {}

const NOTHING: InboxView = { sessions: [], unread: 0, waiting: 0, isLoading: true };

/** One store for each client, so that all components that show an inbox share its stream. */
const stores = new WeakMap<object, InboxStore>();

/** The inbox of a client's user, updated while somebody listens. */
export function inboxStoreOf(client: Client<any>): InboxStore {
  const known = stores.get(client);
  if (known) return known;
  const store = createInboxStore(clientInbox(client), coreOf.get(client)!.person);
  stores.set(client, store);
  return store;
}

function createInboxStore({ events, read }: ClientInbox, person: ClientPerson): InboxStore {
  let view = NOTHING;
  const rows = new Map<string, InboxRow>();
  const listeners = new Set<() => void>();
  let following: AbortController | null = null;
  const show = (next: InboxView): void => {
    view = next;
    for (const listener of listeners) listener();
  };
  // The store lives as long as its client.
  person.subscribe(() => {
    rows.clear();
    show(NOTHING);
  });
  const follow = async (controller: AbortController): Promise<void> => {
    for await (const { sessions, unread, waiting, reset } of events({ signal: controller.signal })) {
      if (following !== controller) return;
      if (reset) rows.clear();
      for (const row of sessions) {
        if (row.ended) rows.delete(row.sessionId);
        else rows.set(row.sessionId, row);
      }
      const newest = [...rows.values()].sort((a, b) => b.changedAt - a.changedAt);
      show({ sessions: newest, unread, waiting, isLoading: false });
    }
  };
  return {
    read,
    getSnapshot: () => view,
    subscribe(listener) {
      listeners.add(listener);
      if (!following) {
        const controller = new AbortController();
        following = controller;
        follow(controller).catch((error) => show({ ...view, error, isLoading: false }));
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        following?.abort();
        following = null;
      };
    },
  };
}
