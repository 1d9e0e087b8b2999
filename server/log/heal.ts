import type { Store } from '../stores/store.js';

const LONGEST_MS = 3000;

/** How long a store may lack what it had before it is believed, in milliseconds: whoever wrote it may tell it again. */
export const healMs = ({ shared }: Pick<Store, 'shared'>): number =>
  Math.min(LONGEST_MS, shared?.leaseMs ?? LONGEST_MS);
