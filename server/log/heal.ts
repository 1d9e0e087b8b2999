import type { Store } from '../stores/store.js';

const LONGEST_MS = 3000;

/** Time for which a store may lack events before the loss is believed, in milliseconds. Their writer may send them again. */
export const healMs = ({ shared }: Pick<Store, 'shared'>): number =>
  Math.min(LONGEST_MS, shared?.leaseMs ?? LONGEST_MS);
