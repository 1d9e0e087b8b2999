import { formatCursor } from '../../shared/cursor.js';
import type { Arrivals } from '../stores/about.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';

/** The kind of records that are read places: each in its session, under the key of its person, who owns it too. */
export const READ = 'read';

/** Records read at once. */
const PAGE = 1000;

/** Up to where a person has read a conversation. */
export interface ReadPlace {
  readonly epoch: string;
  readonly seq: number;
  /** When it was read, in milliseconds since the epoch by the store's clock. */
  readonly at: number;
  /** The same place as clients name it. */
  readonly cursor: string;
  /** `Arrivals.count` without what was unread: what is unread later is what has arrived beyond it. */
  readonly counted: number;
  /** That counts where nothing was rewound behind this place. */
  readonly from: number;
}

/** A record of a read place. @param token Of the one that it takes the place of. @default whatever there is */
export function placing(userKey: string, place: ReadPlace, token?: number): RecordChange {
  const value = JSON.stringify(place);
  return { kind: READ, id: userKey, owner: userKey, value, ...(token !== undefined && { token }) };
}

/** The record of a person's place in a session. */
export async function findPlace(
  store: Pick<Store, 'records'>,
  home: RecordHome,
  userKey: string,
): Promise<StoredRecord | undefined> {
  for (let after: StoredRecord | undefined; ; ) {
    const from: { after?: StoredRecord } = after ? { after } : {};
    const page = await store.records({ home, kind: READ, limit: PAGE, ...from });
    const found = page.find(({ id }) => id === userKey);
    if (found || page.length < PAGE) return found;
    after = page.at(-1);
  }
}

/** The read place of a record. */
export const placeOf = ({ value }: Pick<StoredRecord, 'value'>): ReadPlace => JSON.parse(value) as ReadPlace;

/** A place up to which everything was read. */
export function wholeTo(
  { epoch, term, seq }: { readonly epoch: string; readonly term: number; readonly seq: number },
  { count, rewound }: Arrivals,
  at: number,
): ReadPlace {
  const cursor = formatCursor(epoch, term, seq);
  return { epoch, seq, at, cursor, counted: count, from: Math.max(seq, rewound) };
}
