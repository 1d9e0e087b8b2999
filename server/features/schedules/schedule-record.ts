import type { UserContext } from '../../../shared/contract.js';
import type { Schedule } from '../../../shared/schedules/contract.js';
import type { RecordChange, StoredRecord } from '../../stores/records.js';

/** Kind of the records of schedules. */
export const SCHEDULE = 'schedule';

/** A schedule in its record. */
export interface KeptSchedule {
  /** Epoch of the conversation in which it was set. The schedule ends with it. */
  readonly epoch: string;
  /** The schedule. Its `nextAt` is the instant that is due. */
  readonly schedule: Schedule;
  /** The user who set it: an id, and no roles, which are asked for when it fires. */
  readonly user: UserContext;
  /** Whether host code has named the user, whom no directory may know. */
  readonly byHost?: boolean;
  /** Id of that user, if the session is shared between people. */
  readonly senderId?: string;
  /** The grant by which that user reached the session. The schedule ends with it. */
  readonly grantId?: string;
}

export const keptOf = ({ value }: Pick<StoredRecord, 'value'>): KeptSchedule =>
  JSON.parse(value) as KeptSchedule;

/** Writes a schedule, due at its next instant. Replaces the record with this token; 0 means that there must be none. */
export function keeping(kept: KeptSchedule, token: number): RecordChange {
  const { epoch, schedule, user, byHost, senderId, grantId } = kept;
  const { id, nextAt } = schedule;
  // The attempts of the last instant are none of the next one.
  const value = JSON.stringify({ epoch, schedule, user, byHost, senderId, grantId });
  return { kind: SCHEDULE, id, dueAt: nextAt, value, token };
}

/** Drops a schedule. */
export const dropping = (id: string, token: number): RecordChange => ({ kind: SCHEDULE, id, token });
