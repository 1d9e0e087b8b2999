import type { NoticeOutcome } from '../../../shared/notices/contract.js';
import type { RecordChange, RecordHome } from '../../stores/records.js';
import type { Store } from '../../stores/store.js';
import { type KeptDelivery, type KeptNotice, nameOfTarget, TOLD } from './notice-record.js';

/** Outcomes that are kept for each session and target, the latest. Each browser counts as a target. */
const KEPT = 20;
/** Most targets that are read for one session. */
const TARGETS = 1000;

/** The outcome of a notice that is no longer owed. */
export interface DeliveryOutcome {
  readonly kept: KeptNotice & Partial<Pick<KeptDelivery, 'target' | 'endpoint' | 'attempts'>>;
  readonly outcome: NoticeOutcome;
  /** The time of the outcome, in milliseconds since the epoch. */
  readonly at: number;
}

type OutcomeStore = Pick<Store, 'records'>;

/** The outcomes of a session's last notices, by target. */
export async function outcomesOf(store: OutcomeStore, home: RecordHome): Promise<readonly DeliveryOutcome[]> {
  const records = await store.records({ home, kind: TOLD, limit: TARGETS });
  return records.flatMap(({ value }) => JSON.parse(value) as readonly DeliveryOutcome[]);
}

/** Notes the outcome of a notice, in place of the oldest. Each target has one bounded list, which needs no clean-up. */
export async function noting(
  store: OutcomeStore,
  home: RecordHome,
  outcome: DeliveryOutcome,
): Promise<RecordChange> {
  const { target = outcome.outcome, endpoint } = outcome.kept;
  const id = nameOfTarget({ target, ...(endpoint && { endpoint }) });
  const [record] = await store.records({ home, kind: TOLD, id, limit: 1 });
  const before = record ? (JSON.parse(record.value) as readonly DeliveryOutcome[]) : [];
  const { notice, ...kept } = outcome.kept;
  // Keep no content of a host's own notice: its title identifies it.
  const { body: _, data: _data, ...about } = notice;
  const last: DeliveryOutcome = { ...outcome, kept: { ...kept, notice: about } };
  const value = JSON.stringify([...before, last].slice(-KEPT));
  return { kind: TOLD, id, value, token: record?.token ?? 0 };
}
