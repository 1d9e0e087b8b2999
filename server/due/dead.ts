import { createHash } from 'node:crypto';
import { cut } from '../../shared/cut.js';
import { recordsOf } from '../records/owned.js';
import { type RecordChange, type RecordHome, type StoredRecord, textOfHome } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';
import { type Attempted, FAILING, unattempted } from './attempts.js';

/** Kind of the records of given-up work, and their owner, which finds them across all homes. They are due when they are forgotten. */
export const DEAD = 'dead';
const DEAD_MS = 30 * 24 * 60 * 60_000;

/** A record that was given up, as its own record keeps it. */
export interface KeptDead extends Pick<StoredRecord, 'kind' | 'id' | 'owner' | 'value'> {
  readonly attempts: number;
  /** When the last attempt failed, by the store's clock, and why. */
  readonly failed: NonNullable<Attempted['failed']>;
}

/** Work that was given up. */
export interface DeadWork {
  /** Names it for `retryWork`. */
  readonly id: string;
  /** The kind of work: `schedule`, `delivery` and others. */
  readonly kind: string;
  /** The id of the work among those of its kind and session, such as the schedule's. */
  readonly name: string;
  readonly scope: string;
  /** The session that it belongs to; absent for work of no session. */
  readonly sessionId?: string;
  readonly attempts: number;
  /** Why the last attempt failed, and when. */
  readonly error: string;
  readonly failedAt: number;
  /** When it is forgotten. Times are in milliseconds since the epoch. */
  readonly forgottenAt: number;
}

/** A record of given-up work with its content. */
export interface FoundDead {
  readonly record: StoredRecord;
  readonly kept: KeptDead;
}

type DeadStore = Pick<Store, 'records' | 'changeRecords' | 'shared'>;

export const deadOf = (record: StoredRecord): FoundDead => ({
  record,
  kept: JSON.parse(record.value) as KeptDead,
});

/** The record that keeps given-up work. */
export function burying(
  { kind, id, owner, value }: StoredRecord,
  { attempts, failed }: Pick<KeptDead, 'attempts' | 'failed'>,
  deadMs = DEAD_MS,
): RecordChange {
  const kept: KeptDead = {
    kind,
    id,
    ...(owner !== undefined && owner !== FAILING && { owner }),
    value,
    attempts,
    failed,
  };
  return {
    ...{ kind: DEAD, id: `${kind}|${id}`, owner: DEAD },
    ...{ dueAt: Math.ceil(failed.at + deadMs), value: JSON.stringify(kept) },
  };
}

/** All given-up work of a store. */
export async function* deadWork(store: Pick<Store, 'records'>): AsyncGenerator<FoundDead> {
  for await (const record of recordsOf(store, { owner: DEAD, kind: DEAD })) yield deadOf(record);
}

/** The id of given-up work for operators: one for all gateways, and for each home. */
export function deadIdOf({ home, id }: Pick<StoredRecord, 'home' | 'id'>): string {
  const hash = createHash('sha256').update(JSON.stringify([textOfHome(home), id]));
  return `due_${cut(hash.digest('base64url'), 16)}`;
}

/** Has given-up work tried again at once, with all attempts before it. Resolves with whether it was still there, and nothing has taken its place. */
export async function revive(store: DeadStore, { record, kept }: FoundDead): Promise<boolean> {
  const { home, token } = record;
  const { kind, id, owner } = kept;
  const now = storeTime(store);
  const value = JSON.stringify({ ...unattempted(kept.value), retriedAt: now });
  const again: RecordChange = { kind, id, owner, dueAt: now, value, token: 0 };
  return store.changeRecords(home, [{ kind: DEAD, id: record.id, token }, again]);
}

/** Work that was given up, as operators see it. @param format Makes the key of a session */
export function deadWorkOf(
  { record, kept }: FoundDead,
  format: (app: string, name: string) => string,
): DeadWork {
  const { home, dueAt = 0 } = record;
  const { scope } = home as RecordHome;
  return {
    ...{ id: deadIdOf(record), kind: kept.kind, name: kept.id, scope },
    ...(home.app !== undefined && { sessionId: format(home.app, home.name) }),
    ...{ attempts: kept.attempts, error: kept.failed.error, failedAt: kept.failed.at, forgottenAt: dueAt },
  };
}
