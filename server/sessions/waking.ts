import type { RecordChange } from '../stores/records.js';
import type { Session } from './session.js';

/** The kind of records that say by when a run that is parked goes on. */
export const WAKING = 'waking';

/** Has a run taken up again by a time, in milliseconds since the epoch. */
export const waking = (runId: string, dueAt: number): RecordChange => ({
  ...{ kind: WAKING, id: runId, dueAt, value: '{}' },
});

/** A run that goes on. */
export interface Woken {
  readonly runId: string;
  readonly token: number;
}

/** The session is held, and so its run goes on: nobody has to be told again. */
export async function wake({ writer }: Session, { runId, token }: Woken): Promise<void> {
  await writer!.commit([], { records: [{ kind: WAKING, id: runId, token }], refusable: true });
}
