import { useMemo, useSyncExternalStore } from 'react';
import { createUsageStore, type UsageView, type UsageViewOptions } from '../hooks/usage-store.js';
import { useGateway } from './provider.js';

/** All that the user has used, while the component is mounted. With a session it is read again whenever an answer there ends. */
export function useUsage(options: UsageViewOptions = {}): UsageView {
  const client = useGateway();
  const asked = JSON.stringify(options);
  const { subscribe, getSnapshot } = useMemo(
    () => createUsageStore(client, JSON.parse(asked) as UsageViewOptions),
    [client, asked],
  );
  return useSyncExternalStore(subscribe, getSnapshot, getSnapshot);
}
