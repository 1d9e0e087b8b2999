import { memoryStore } from '../../server/stores/memory.js';
import type { Store } from '../../server/stores/store.js';
import { overriding } from '../support/overriding.js';

const LEASE_MS = 2000;

/** The clock of a store, which a test sets forward and back: what is due goes by it. */
export class TestClock {
  readonly store: Store;
  /** How many records were taken. */
  taken = 0;
  #ahead = 0;

  constructor(inner: Store = memoryStore()) {
    this.store = this.of(inner);
  }

  /** Another store that goes by it. */
  of(inner: Store): Store {
    return overriding(inner, {
      // What a gateway had taken that was ended is not waited for as long as in earnest.
      takeDue: async ({ limit }) => {
        const taken = await inner.takeDue({ limit, leaseMs: LEASE_MS, aheadMs: this.#ahead });
        this.taken += taken.records.length;
        return taken;
      },
    });
  }

  forward(ms: number): void {
    this.#ahead += ms;
  }

  now(): number {
    return Date.now() + this.#ahead;
  }
}
