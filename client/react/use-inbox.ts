import { useMemo, useSyncExternalStore } from 'react';
import { type InboxView, inboxStoreOf } from '../hooks/inbox-store.js';
import type { ClientInbox } from '../inbox/client-inbox.js';
import { useGateway } from './provider.js';

/** The inbox of the client's user, as it changes while the component is mounted. All components that show it share one stream. */
export function useInbox(): InboxView & Pick<ClientInbox, 'read'> {
  const store = inboxStoreOf(useGateway());
  const view = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
  const { read } = store;
  return useMemo(() => ({ ...view, read }), [view, read]);
}
