import type { Notice } from '../../shared/notices.js';
import type { StoredRecord } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';
import { DEAD, DELIVERY, delivering, deliveryId, deliveryOf, RETRYING } from './notice-record.js';

const PAGE = 500;

/** A delivery that failed at least once and is not told. */
export interface FailedNotice {
  /** Id of the delivery: the notice's id and the target. */
  readonly id: string;
  readonly notice: Notice;
  readonly scope: string;
  readonly target: string;
  /** Whether the delivery was given up. Only `resendNotice` sends it again. */
  readonly dead: boolean;
  readonly attempts: number;
  /** Why the last attempt failed, and when. */
  readonly error: string;
  readonly failedAt: number;
  /** The time of the next attempt, in milliseconds since the epoch; absent if the delivery was given up. */
  readonly nextAt?: number;
}

type LedgerStore = Pick<Store, 'records' | 'changeRecords' | 'shared'>;

async function* recordsOf(store: LedgerStore, owner: string): AsyncGenerator<StoredRecord> {
  let after: Pick<StoredRecord, 'home' | 'id'> | undefined;
  for (;;) {
    const page = await store.records({ owner, kind: DELIVERY, limit: PAGE, ...(after && { after }) });
    yield* page;
    const last = page.at(-1);
    if (page.length < PAGE || !last) return;
    after = { home: last.home, id: last.id };
  }
}

/** Lists failed deliveries that are not told yet, whether they will be retried or were given up. */
export async function* failedNotices(
  store: LedgerStore,
  { dead }: { readonly dead?: boolean | undefined } = {},
): AsyncGenerator<FailedNotice> {
  for (const owner of dead ? [DEAD] : [RETRYING, DEAD]) {
    for await (const record of recordsOf(store, owner)) {
      const { home, dueAt } = record;
      const kept = deliveryOf(record);
      const { notice, target, attempts, failed } = kept;
      yield {
        ...{ id: deliveryId(kept), notice, scope: home.scope, target, dead: dueAt === undefined, attempts },
        ...{ error: failed?.error ?? '', failedAt: failed?.at ?? 0 },
        ...(dueAt !== undefined && { nextAt: dueAt }),
      };
    }
  }
}

/**
 * Sends failed deliveries again at once, with all attempts before them.
 *
 * @param id Id of a delivery, or of a notice for all its failed deliveries
 * @returns the number of deliveries that are sent again
 */
export async function resendNotice(store: LedgerStore, id: string): Promise<number> {
  let count = 0;
  for (const owner of [DEAD, RETRYING]) {
    for await (const record of recordsOf(store, owner)) {
      const { failed: _, awaySince: __, ...kept } = deliveryOf(record);
      if (id !== kept.notice.id && id !== deliveryId(kept)) continue;
      const again = { id: record.id, dueAt: storeTime(store), token: record.token };
      if (await store.changeRecords(record.home, [delivering({ ...kept, attempts: 0 }, again)])) count += 1;
    }
  }
  return count;
}
