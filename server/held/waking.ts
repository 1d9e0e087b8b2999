import type { RecordChange } from '../stores/records.js';
import type { HeldSession } from './held-session.js';

/** Kind of the records that resume a parked run in time. */
export const WAKING = 'waking';

/** The record that resumes a run at a time, in milliseconds since the epoch. */
export const waking = (runId: string, dueAt: number): RecordChange => ({
  ...{ kind: WAKING, id: runId, dueAt, value: '{}' },
});

/** A parked run that is due. */
export interface Woken {
  readonly runId: string;
  readonly token: number;
}

/** Drops the record: holding the session has already resumed the run. */
export async function wake({ log }: HeldSession, { runId, token }: Woken): Promise<void> {
  await log.commit([], { records: [{ kind: WAKING, id: runId, token }], refusable: true });
}
