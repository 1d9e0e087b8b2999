import { asUnavailable } from '../log/unavailable.js';
import type { StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import { assertRoom, type RecordBound } from './kind.js';
import { recordsOf } from './owned.js';

/** The records that a bound counts. */
export interface OwnedRecords extends RecordBound {
  /** Name of the kind. */
  readonly kind: string;
  readonly owner: string;
  /** Whether a record counts. @default each does */
  readonly counts?: (record: StoredRecord) => boolean;
}

/**
 * Bounds the records that one owner has in all homes together. No append sees them all, so work that adds one waits for the work before it
 * of the same owner. Each gateway of a cluster may pass the bound by one.
 */
export class OwnerRoom {
  readonly #store: Pick<Store, 'records'>;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(store: Pick<Store, 'records'>) {
    this.#store = store;
  }

  /**
   * Does work that adds a record, if the owner has room for it.
   *
   * @throws GatewayError `QUOTA_EXCEEDED` naming the option, `OVERLOADED`, and errors of the work
   */
  async add<Result>(owned: OwnedRecords, work: () => Promise<Result>): Promise<Result> {
    const { owner, kind, most } = owned;
    if (most === Number.POSITIVE_INFINITY) return work();
    const name = JSON.stringify([kind, owner]);
    const before = this.#turns.get(name);
    const done = (async () => {
      await before?.catch(() => {});
      assertRoom(await this.#count(owned), owned);
      return work();
    })();
    this.#turns.set(name, done);
    try {
      return await done;
    } finally {
      if (this.#turns.get(name) === done) this.#turns.delete(name);
    }
  }

  async #count({ owner, kind, most, counts = () => true }: OwnedRecords): Promise<number> {
    return asUnavailable(async () => {
      let count = 0;
      for await (const record of recordsOf(this.#store, { owner, kind }))
        if (counts(record) && ++count === most) break;
      return count;
    });
  }
}
