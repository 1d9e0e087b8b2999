import type { UserContext } from '../../shared/contract.js';
import type { Schedule } from '../../shared/schedules.js';
import type { RecordChange, StoredRecord } from '../stores/records.js';

/** The kind of records that schedules are. */
export const SCHEDULE = 'schedule';

/** A schedule as its record has it. */
export interface KeptSchedule {
  /** Of the conversation that it was set in: it ends with that. */
  readonly epoch: string;
  /** `nextAt` is the instant that is due. */
  readonly schedule: Schedule;
  /** Who set it. */
  readonly user: UserContext;
  /** The same, where a session is not one person's alone. */
  readonly senderId?: string;
}

export const keptOf = ({ value }: Pick<StoredRecord, 'value'>): KeptSchedule =>
  JSON.parse(value) as KeptSchedule;

/** Keeps a schedule, due at its next instant, in the place of the record of a token; 0: where there is none. */
export function keeping(kept: KeptSchedule, token: number): RecordChange {
  const { id, nextAt } = kept.schedule;
  return { kind: SCHEDULE, id, dueAt: nextAt, value: JSON.stringify(kept), token };
}

/** Drops a schedule. */
export const dropping = (id: string, token: number): RecordChange => ({ kind: SCHEDULE, id, token });
