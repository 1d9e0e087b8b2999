import type { RecordChange, RecordHome, StoredRecord } from '../../stores/records.js';
import type { Store } from '../../stores/store.js';
import { DELIVERY, delivering, deliveryOf, type KeptDelivery, lineOf } from './notice-record.js';

/** Most records of one line that are read to find the next turn. */
const LOOKED_AT = 100;

/** Orders the deliveries of one session to one target in a line. The change that ends one passes the turn to the next, so that nobody polls. */
export class DeliveryOrder {
  readonly #store: Pick<Store, 'records' | 'changeRecords'>;

  constructor(store: Pick<Store, 'records' | 'changeRecords'>) {
    this.#store = store;
  }

  /** Whether a new delivery would find another one in the line. */
  async isTaken(home: RecordHome, target: string): Promise<boolean> {
    return (await this.#line(home, target, 1)).length > 0;
  }

  /** The change that passes the turn from one delivery to the next. */
  async passing(home: RecordHome, target: string, id: string, now: number): Promise<readonly RecordChange[]> {
    const next = (await this.#line(home, target, 2)).find((record) => record.id !== id);
    return next && deliveryOf(next).waits ? [calling(next, now)] : [];
  }

  /** Passes the turn to the first delivery if none has it. Its predecessor may have ended before the delivery began to wait. */
  async mend(home: RecordHome, target: string, now: number): Promise<void> {
    const [first] = await this.#line(home, target, 1);
    if (!first || !deliveryOf(first).waits) return;
    const line = await this.#line(home, target, LOOKED_AT);
    if (!line.every((record) => deliveryOf(record).waits)) return;
    await this.#store.changeRecords(home, [calling(first, now)], { mayRepeat: true });
  }

  async #line(home: RecordHome, target: string, limit: number): Promise<readonly StoredRecord[]> {
    const line = lineOf(target);
    const after = { kind: DELIVERY, id: line };
    const records = await this.#store.records({ home, kind: DELIVERY, after, limit });
    return records.filter(({ id }) => id.startsWith(line));
  }
}

/** The change that makes a waiting delivery due. */
function calling(record: StoredRecord, dueAt: number): RecordChange {
  const { waits: _, ...kept }: KeptDelivery = deliveryOf(record);
  return delivering(kept, { id: record.id, dueAt, token: record.token });
}
