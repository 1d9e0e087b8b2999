import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import { DELIVERY, delivering, deliveryOf, type KeptDelivery, lineOf } from './notice-record.js';

/** Of one line, records that are looked at for whose turn it is. */
const LOOKED_AT = 100;

/**
 * Whose turn it is. What of a session one target is told in order stands in a line: one of it is under way, and others wait until that is
 * told or leaves the line. Nobody asks again and again whether it is: the turn is given with the change that ends the one before.
 */
export class Turns {
  readonly #store: Pick<Store, 'records' | 'changeRecords'>;

  constructor(store: Pick<Store, 'records' | 'changeRecords'>) {
    this.#store = store;
  }

  /** Whether there is one before whoever comes now. */
  async isTaken(home: RecordHome, target: string): Promise<boolean> {
    return (await this.#line(home, target, 1)).length > 0;
  }

  /** What gives the turn of one to the next. */
  async passing(home: RecordHome, target: string, id: string, now: number): Promise<readonly RecordChange[]> {
    const next = (await this.#line(home, target, 2)).find((record) => record.id !== id);
    return next && deliveryOf(next).waits ? [calling(next, now)] : [];
  }

  /** Gives the turn to the first where nobody has it: one ended while another came to wait for it. */
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

/** What makes one that waits be due. */
function calling(record: StoredRecord, dueAt: number): RecordChange {
  const { waits: _, ...kept }: KeptDelivery = deliveryOf(record);
  return delivering(kept, { id: record.id, dueAt, token: record.token });
}
