import { formatCursor } from '../../shared/cursor.js';
import type { Arrivals } from '../stores/about.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';

/** Kind of the records of read places. Each is in its session, and has its user's key as id and owner. */
export const READ = 'read';

/** The place up to which a user has read a conversation. */
export interface ReadPlace {
  readonly epoch: string;
  readonly seq: number;
  /** Time at which it was read, by the store's clock, in milliseconds since the epoch. */
  readonly at: number;
  /** The same place in the form for clients. */
  readonly cursor: string;
  /** `Arrivals.count` less the unread messages. Later the difference to the new count is the number of unread messages. */
  readonly counted: number;
  /** `counted` is valid while `Arrivals.rewound` is not beyond this place. */
  readonly from: number;
}

/** A record of a read place. @param token Token of the record that it replaces. @default any record */
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
  const [record] = await store.records({ home, kind: READ, id: userKey, limit: 1 });
  return record;
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
