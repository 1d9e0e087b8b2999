import type { RecordHome } from '../stores/records.js';
import type { Store } from '../stores/store.js';

/** How far somebody has read a session. */
export interface ReadPlace {
  readonly epoch: string;
  readonly seq: number;
  /** When that was, in milliseconds since the epoch. */
  readonly at: number;
}

/** Finds out how far a person has read a session; null where nothing is known of it. */
export type ReadPlaceOf = (home: RecordHome, userKey: string) => Promise<ReadPlace | null>;

/** The kind of the records that say how far people have read: in the session, by the person's key. */
export const READ = 'read';

/** By the records of the store. */
export function readPlacesIn(store: Pick<Store, 'records'>): ReadPlaceOf {
  return async (home, userKey) => {
    let after: { readonly kind: string; readonly id: string } | undefined;
    for (;;) {
      const page = await store.records({ home, kind: READ, limit: 1000, ...(after && { after }) });
      const found = page.find(({ id }) => id === userKey);
      if (found) return JSON.parse(found.value) as ReadPlace;
      const last = page.at(-1);
      if (page.length < 1000 || !last) return null;
      after = { kind: READ, id: last.id };
    }
  };
}
