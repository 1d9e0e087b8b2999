import { type Cursor, parseCursor } from '../../../shared/cursor.js';
import { fieldError, GatewayError } from '../../../shared/errors.js';
import { NO_ARRIVALS } from '../../log/arrivals.js';
import type { LogView } from '../../log/log-view.js';
import { termAt } from '../../log/readable-log.js';
import { recordsOf } from '../../records/owned.js';
import { textOfHome } from '../../stores/records.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import type { LogHead, SessionRef } from '../../stores/stored.js';
import { READ_PLACES, type ReadPlace, wholeTo } from './read-place.js';
import { behindOf, recount, unreadBy } from './unread.js';

/** A read place that was found or set, and what is unread behind it. */
export interface ReachedPlace {
  readonly place: ReadPlace;
  readonly unread: number;
}

/** The read places of users: how far each has read each conversation, on all devices together. */
export class ReadPlaces {
  readonly #store: Store;
  readonly #logOf: (ref: SessionRef) => Promise<LogView>;

  /** @param logOf The log of a session that is open. @throws GatewayError `SESSION_NOT_FOUND` */
  constructor(store: Store, logOf: (ref: SessionRef) => Promise<LogView>) {
    this.#store = store;
    this.#logOf = logOf;
  }

  /** A user's place in a session. */
  async of(ref: SessionRef, userKey: string): Promise<ReadPlace | undefined> {
    return (await READ_PLACES.one(this.#store, ref, userKey))?.value;
  }

  /** A user's places in all sessions, by `textOfHome`. */
  async all(owner: string): Promise<ReadonlyMap<string, ReadPlace>> {
    const places = new Map<string, ReadPlace>();
    for await (const record of recordsOf(this.#store, { owner, kind: READ_PLACES.name })) {
      const kept = READ_PLACES.read(record);
      if (kept) places.set(textOfHome(kept.home), kept.value);
    }
    return places;
  }

  /**
   * Notes that a user has read up to a place, by default the end. A place that another device has moved further stays.
   *
   * @throws GatewayError `SESSION_NOT_FOUND`; `INVALID_PARAMS` for a place of another conversation, or behind the end
   */
  async reach(ref: SessionRef, userKey: string, cursor?: string): Promise<ReachedPlace> {
    for (;;) {
      // Read the head before the record: arrivals in the record are then up to the head, or visibly beyond it.
      const head = await this.#store.head(ref);
      const record = await this.#store.record(ref);
      if (!head || !record || head.closed || record.closed)
        throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
      if (record.epoch !== head.epoch) continue;
      const goal = cursor === undefined ? endOf(head) : placeIn(await this.#store.head(ref), cursor);
      const { arrivals = NO_ARRIVALS } = record;
      if (cursor === undefined && arrivals.last > goal.seq) continue;
      const { token, kept } = await READ_PLACES.at(this.#store, ref, userKey);
      const before = kept?.value;
      if (before?.epoch === goal.epoch && before.seq >= goal.seq) {
        const behind = behindOf(record, before);
        return { place: before, unread: unreadBy(record, behind) ?? (await this.#recount(ref, behind)) };
      }
      let place = wholeTo(goal, arrivals, storeTime(this.#store));
      let unread = 0;
      if (arrivals.last > goal.seq) {
        unread = await this.#recount(ref, behindOf(record, place));
        const now = (await this.#store.record(ref))?.arrivals;
        // A message arrived during the count.
        if (now?.count !== arrivals.count || now.rewound !== arrivals.rewound) continue;
        place = { ...place, counted: arrivals.count - unread };
      }
      if (await this.#store.changeRecords(ref, [READ_PLACES.put(userKey, place, { token })]))
        return { place, unread };
    }
  }

  async #recount(ref: SessionRef, behind: Parameters<typeof recount>[1]): Promise<number> {
    return recount(await this.#logOf(ref), behind);
  }
}

const endOf = ({ epoch, terms, head: seq }: LogHead): Cursor => ({ epoch, term: termAt(terms, seq), seq });

/** @throws GatewayError `INVALID_PARAMS` */
function placeIn(head: LogHead | null, cursor: string): Cursor {
  const place = parseCursor(cursor);
  if (!place) throw fieldError('cursor', 'must be a cursor of a session');
  if (place.epoch !== head?.epoch) throw fieldError('cursor', 'must be a place in the present conversation');
  if (place.seq > head.head) throw fieldError('cursor', 'must not be behind the end of the conversation');
  return place;
}
