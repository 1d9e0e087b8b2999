import { useMemo, useSyncExternalStore } from 'react';
import { createSchedulesStore, type SchedulesView } from '../hooks/schedules-store.js';
import type { SessionSchedules } from '../schedules/index.js';
import { useGateway } from './provider.js';

/** The schedules of a session, as they change while the component is mounted, with the operations on them. */
export function useSchedules(id: string): SchedulesView & Pick<SessionSchedules, 'schedule' | 'unschedule'> {
  const client = useGateway();
  const store = useMemo(() => createSchedulesStore(client, id), [client, id]);
  const view = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
  const { schedule, unschedule } = store;
  return useMemo(() => ({ ...view, schedule, unschedule }), [view, schedule, unschedule]);
}
