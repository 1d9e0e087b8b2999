import { StoreError } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { type Gate, gate } from './gate.js';
import { overriding } from './overriding.js';

/** A store whose appends the test lets through, and whose batches it sees. */
export interface HeldStore {
  readonly store: Store;
  /** Types of the events of every batch that was asked for, in order. */
  readonly batches: string[][];
  /** From now on appends wait. Resolves once one does. */
  hold(): Promise<void>;
  /** Lets those through that wait, or has them refused, and holds no more. */
  release(how?: 'do' | 'refuse'): void;
}

export function heldStore(inner: Store): HeldStore {
  const batches: string[][] = [];
  let door: Gate<'do' | 'refuse'> | null = null;
  let arrived: Gate | null = null;
  const append: Store['append'] = async (log, events, options) => {
    batches.push(events.map(({ type }) => type));
    if (door) {
      arrived!.open();
      if ((await door.passed) === 'refuse') throw new StoreError('UNAVAILABLE', 'Refused');
    }
    return inner.append(log, events, options);
  };
  const store = overriding(inner, { append });
  return {
    store,
    batches,
    hold() {
      door = gate();
      arrived = gate();
      return arrived.passed;
    },
    release(how = 'do') {
      door?.open(how);
      door = null;
    },
  };
}
