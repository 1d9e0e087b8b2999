import { useGateway, useSessionEvents } from 'agent-session-gateway/client/react';
import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from 'react';
import { type RecordState, SessionRecord } from './record.js';

const RecordContext = createContext<SessionRecord>(new SessionRecord());

export const RecordProvider = RecordContext.Provider;

const records = new Map<string, SessionRecord>();

function recordOf(sessionId: string): SessionRecord {
  const record = records.get(sessionId) ?? new SessionRecord();
  records.set(sessionId, record);
  return record;
}

/** Records a session while it is shown, from the last event that the page got by any transport. */
export function useRecording(sessionId: string): SessionRecord {
  const client = useGateway();
  const record = recordOf(sessionId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another client begins where the one before has ended
  const from = useMemo(() => record.cursor ?? 'earliest', [record, client]);
  useSessionEvents(sessionId, (event) => record.take(event), { from, onError: () => {} });
  useEffect(
    () =>
      client.connection.subscribe((state) => {
        if (state === 'reconnecting') record.down();
        if (state === 'open') record.up();
      }),
    [client, record],
  );
  return record;
}

/** The record of the shown session. */
export function useRecord(): RecordState {
  const record = useContext(RecordContext);
  return useSyncExternalStore(record.subscribe, record.getSnapshot);
}
