import { StoreError } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { passing } from './overriding.js';

/** A store that refuses calls of some members while `outage.on`, and counts those. */
export function refusingStore(inner: Store, ...members: readonly (keyof Store)[]) {
  const outage = { on: false, refused: 0 };
  const store = passing(inner, (name, call) => {
    if (!outage.on || !members.includes(name as keyof Store)) return call();
    outage.refused += 1;
    throw new StoreError('UNAVAILABLE', 'Refused');
  });
  return { store, outage };
}
