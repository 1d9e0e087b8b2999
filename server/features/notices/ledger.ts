import type { FailedNotice, FailedNoticesOptions } from '../../../shared/notices/contract.js';
import { type Attempted, FAILING, unattempted } from '../../due/attempts.js';
import { deadWork, type FoundDead, revive } from '../../due/dead.js';
import { recordsOf } from '../../records/owned.js';
import type { RecordChange } from '../../stores/records.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import { DELIVERY, deliveryId, deliveryOf, type KeptDelivery } from './notice-record.js';

type LedgerStore = Pick<Store, 'records' | 'changeRecords' | 'shared'>;

const retried = { owner: FAILING, kind: DELIVERY };

/** Lists failed deliveries that are not told yet, whether they will be retried or were given up. */
export async function* failedNotices(
  store: LedgerStore,
  { dead: isDead }: FailedNoticesOptions = {},
): AsyncGenerator<FailedNotice> {
  if (!isDead)
    for await (const record of recordsOf(store, retried)) {
      const kept = deliveryOf(record);
      yield { ...aboutOf(kept, kept), scope: record.home.scope, dead: false, nextAt: record.dueAt! };
    }
  for await (const { record, kept } of deadDeliveries(store))
    yield { ...aboutOf(deliveryOf(kept), kept), scope: record.home.scope, dead: true };
}

function aboutOf(
  kept: KeptDelivery,
  { attempts = 0, failed }: Attempted,
): Pick<FailedNotice, 'id' | 'notice' | 'target' | 'attempts' | 'error' | 'failedAt'> {
  const { notice, target } = kept;
  const { error = '', at: failedAt = 0 } = failed ?? {};
  return { id: deliveryId(kept), notice, target, attempts, error, failedAt };
}

async function* deadDeliveries(store: LedgerStore): AsyncGenerator<FoundDead> {
  for await (const dead of deadWork(store)) if (dead.kept.kind === DELIVERY) yield dead;
}

/**
 * Sends failed deliveries again at once, with all attempts before them.
 *
 * @param id Id of a delivery, or of a notice for all its failed deliveries
 * @returns the number of deliveries that are sent again
 */
export async function resendNotice(store: LedgerStore, id: string): Promise<number> {
  const isMeant = (kept: KeptDelivery): boolean => id === kept.notice.id || id === deliveryId(kept);
  let count = 0;
  for await (const dead of deadDeliveries(store))
    if (isMeant(deliveryOf(dead.kept)) && (await revive(store, dead))) count += 1;
  for await (const record of recordsOf(store, retried)) {
    if (!isMeant(deliveryOf(record))) continue;
    const { home, token, kind, id: name } = record;
    const now = storeTime(store);
    const value = JSON.stringify({ ...unattempted(record.value), retriedAt: now });
    const again: RecordChange = { kind, id: name, dueAt: now, value, token };
    if (await store.changeRecords(home, [again])) count += 1;
  }
  return count;
}
