import type { NoticeOutcome } from '../diagnostics/gateway-stats.js';
import type { RecordChange, RecordHome } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import { type KeptDelivery, type KeptNotice, TOLD } from './notice-record.js';

/** Of each session and target, each browser by itself, notices of which it is kept what became of them: the last ones. */
const KEPT = 20;
/** Targets of one session. */
const TARGETS = 1000;

/** What became of a notice: it is owed no more. */
export interface Outcome {
  readonly kept: Omit<KeptDelivery, 'target'> & { readonly target?: string };
  readonly outcome: NoticeOutcome;
  /** When it was so, in milliseconds since the epoch. */
  readonly at: number;
}

type Records = Pick<Store, 'records'>;

/** What became of a session's last notices, by target. */
export async function outcomesOf(store: Records, home: RecordHome): Promise<readonly Outcome[]> {
  const records = await store.records({ home, kind: TOLD, limit: TARGETS });
  return records.flatMap(({ value }) => JSON.parse(value) as readonly Outcome[]);
}

/**
 * Notes what became of a notice, in the place of what is known for longest. It is a list for each target, which grows no further: nothing
 * has to come back to drop it.
 */
export async function noting(store: Records, home: RecordHome, outcome: Outcome): Promise<RecordChange> {
  const { target = outcome.outcome, push } = outcome.kept;
  const id = push ? `${target}:${push.id}` : target;
  const records = await store.records({ home, kind: TOLD, limit: TARGETS });
  const record = records.find((each) => each.id === id);
  const before = record ? (JSON.parse(record.value) as readonly Outcome[]) : [];
  const { notice, ...kept } = outcome.kept;
  // What a host says is the host's: its title tells which it is.
  const { body: _, data: _data, ...about } = notice;
  const last: Outcome = { ...outcome, kept: { ...kept, notice: about } };
  const value = JSON.stringify([...before, last].slice(-KEPT));
  return { kind: TOLD, id, value, token: record?.token ?? 0 };
}

/** A notice that is owed to no target yet, as outcomes have it. */
export const untold = (kept: KeptNotice): Outcome['kept'] => ({ ...kept, attempts: 0 });
