import type { Notice } from '../../shared/notices.js';
import type { StoredRecord } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';
import { DEAD, DELIVERY, delivering, deliveryId, deliveryOf, RETRYING } from './notice-record.js';

const PAGE = 500;

/** What is owed to a target, and could not be told yet. */
export interface FailedNotice {
  /** Of what is owed to this target: the notice's id and the target. */
  readonly id: string;
  readonly notice: Notice;
  readonly scope: string;
  readonly target: string;
  /** Whether it was given up: it is sent again by hand alone. */
  readonly dead: boolean;
  readonly attempts: number;
  /** Why the last attempt failed, and when. */
  readonly error: string;
  readonly failedAt: number;
  /** When it is tried again, in milliseconds since the epoch; absent where it was given up. */
  readonly nextAt?: number;
}

type Records = Pick<Store, 'records' | 'changeRecords' | 'shared'>;

async function* recordsOf(store: Records, owner: string): AsyncGenerator<StoredRecord> {
  let after: Pick<StoredRecord, 'home' | 'id'> | undefined;
  for (;;) {
    const page = await store.records({ owner, kind: DELIVERY, limit: PAGE, ...(after && { after }) });
    yield* page;
    const last = page.at(-1);
    if (page.length < PAGE || !last) return;
    after = { home: last.home, id: last.id };
  }
}

/** What failed at least once and is not told: what is tried again, and what was given up. */
export async function* failedNotices(
  store: Records,
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
 * Has what failed be sent again at once, with all its attempts before it.
 *
 * @param id Of what is owed to a target, or of a notice: to all targets that it could not be told
 * @returns how many are sent again
 */
export async function resendNotice(store: Records, id: string): Promise<number> {
  let count = 0;
  for (const owner of [DEAD, RETRYING]) {
    for await (const record of recordsOf(store, owner)) {
      const { failed: _, ...kept } = deliveryOf(record);
      if (id !== kept.notice.id && id !== deliveryId(kept)) continue;
      const again = { id: record.id, dueAt: storeTime(store), token: record.token };
      if (await store.changeRecords(record.home, [delivering({ ...kept, attempts: 0 }, again)])) count += 1;
    }
  }
  return count;
}
