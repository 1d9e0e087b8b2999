import { type GrantRole, grantName } from '../../../shared/grants.js';
import type { InboxPage, InboxRow, InboxTotals } from '../../../shared/inbox/contract.js';
import { formatPlace, hashOfAll } from '../../../shared/inbox/inbox-place.js';
import type { AppRegistry } from '../../apps/registry.js';
import { andThen, isPromise, type MaybePromise } from '../../async/maybe-promise.js';
import { nextTurn } from '../../async/turn.js';
import type { Person } from '../../auth/types.js';
import type { FoundGrant, Grants } from '../../grants/grants.js';
import { NO_ARRIVALS } from '../../log/arrivals.js';
import type { LogView } from '../../log/log-view.js';
import type { ListPlace } from '../../stores/listing.js';
import { textOfHome } from '../../stores/records.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import type { SessionRecord, SessionRef } from '../../stores/stored.js';
import { formatPageCursor, type PageTotals, parsePageCursor } from './page-cursor.js';
import type { ReadPlace } from './read-place.js';
import { ReadPlaces } from './read-places.js';
import { behindOf, recount, unreadBy } from './unread.js';

/** Sessions of an inbox at most; those used last are kept. */
export const INBOX_SESSIONS = 1000;
/** Sessions listed at once. */
const PAGE = 100;
/** Remembered counts that took a read of a log. */
const REMEMBERED = 1000;

/** The parts of the gateway that an inbox uses. */
export interface InboxEnvironment {
  readonly store: Store;
  readonly apps: Pick<AppRegistry, 'format'>;
  readonly grants: Pick<Grants, 'ofUser' | 'ofUserIn'>;
  /** The log of a session that is open. @throws GatewayError `SESSION_NOT_FOUND` */
  logOf(ref: SessionRef): Promise<LogView>;
  /** Whether a user may see a session, of their own scope or by a grant. */
  mayShow(
    ref: SessionRef,
    person: Person,
    via?: { readonly grantId: string; readonly as: GrantRole },
  ): MaybePromise<boolean>;
}

/** A session in a user's inbox. */
export interface InboxEntry {
  readonly ref: SessionRef;
  readonly row: InboxRow;
  /** Time at which its row last changed, by the store's clock. */
  readonly changedAt: number;
  readonly createdAt: number;
  /** Time at which its session's record last changed. */
  readonly recordedAt: number;
}

/** A whole inbox, the session that was used last first. */
export interface InboxState extends InboxTotals {
  readonly entries: readonly InboxEntry[];
  /** Time of the look by the store's clock. The look has every earlier change. */
  readonly at: number;
  /** The person's read places, by `textOfHome`. */
  readonly places: ReadonlyMap<string, ReadPlace>;
  /** Whether the look has every session. It has at most `INBOX_SESSIONS`, those used last. */
  readonly isWhole: boolean;
}

/** Entries of one kind, and whether they are all. */
interface FoundEntries {
  readonly entries: InboxEntry[];
  readonly isWhole: boolean;
}

/** The outcome of a walk through a person's sessions. */
interface Walk {
  /** The last time at which any of them was used. */
  readonly newest: number;
  /** Whether there were some that were not found before, or have changed. */
  readonly isNews: boolean;
  /** Whether it came to its end. */
  readonly isWhole: boolean;
}

/** The inboxes of users: their sessions, with the number of unread messages and open questions in each. */
export class Inbox {
  readonly env: InboxEnvironment;
  readonly places: ReadPlaces;
  /** Counts of logs, by session, place and arrivals. */
  readonly #counts = new Map<string, Promise<number>>();

  constructor(env: InboxEnvironment) {
    this.env = env;
    this.places = new ReadPlaces(env.store, env.logOf);
  }

  /** A page of an inbox, with the sums over the whole inbox as the first page found them. @throws GatewayError `INVALID_PARAMS` */
  async page(
    { limit = 50, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
    person: Person,
  ): Promise<InboxPage> {
    const { store } = this.env;
    // Sums need a look at all sessions, which one page of a list is enough for.
    const first = cursor === undefined ? await this.look(person) : null;
    const { before, totals } = first ? { totals: totalsOf(first) } : parsePageCursor(cursor!);
    const places = first?.places ?? (await this.places.all(person.key));
    const others = first ?? (await this.#shared(person, places));
    const listed = await store.list(person.scope, { limit, before });
    const sessions: InboxRow[] = [];
    for (const record of listed.records) {
      const entry = await this.#entryOf(record, places.get(textOfHome(record.ref)), person);
      if (entry) sessions.push(entry.row);
    }
    // A list of the store has one scope, so shared sessions are merged in by their time.
    const [oldest, newest] = [listed.next?.updatedAt ?? 0, before?.updatedAt ?? Number.POSITIVE_INFINITY];
    const isHere = ({ ref, row: { changedAt } }: InboxEntry): boolean =>
      ref.scope !== person.scope && changedAt >= oldest && changedAt < newest;
    const shared = others.entries.filter(isHere).map(({ row }) => row);
    if (shared.length > 0) sessions.push(...shared);
    sessions.sort((a, b) => b.changedAt - a.changedAt);
    // Others may share much, so the page ends within it. Sessions that changed at the same time stay together, since the next page begins before it.
    const last = sessions[limit - 1]?.changedAt;
    const shown = last === undefined ? sessions : sessions.filter(({ changedAt }) => changedAt >= last);
    const next =
      last !== undefined && shown.length < sessions.length ? { updatedAt: last, ordinal: 0 } : listed.next;
    return { sessions: shown, ...totals, cursor: formatPageCursor(next, totals) };
  }

  /** The whole inbox, with its sums. */
  async look(person: Person): Promise<InboxState> {
    const { store } = this.env;
    const at = storeTime(store);
    const places = await this.places.all(person.key);
    const { entries, isWhole } = await this.#ownAll(person, places);
    const shared = await this.#shared(person, places);
    entries.push(...shared.entries);
    entries.sort((a, b) => b.row.changedAt - a.row.changedAt);
    const sum = (field: 'unread' | 'waiting'): number =>
      entries.reduce((total, { row }) => total + row[field], 0);
    return {
      entries,
      unread: sum('unread'),
      waiting: sum('waiting'),
      at,
      places,
      isWhole: isWhole && shared.isWhole,
    };
  }

  /** The rows of one session in an inbox: one, or one for each grant; none if the inbox does not show the session. */
  async entriesOf(ref: SessionRef, person: Person): Promise<readonly InboxEntry[]> {
    const { scope, key: userKey } = person;
    if (ref.scope === scope) {
      const entry = await this.#own(ref, person);
      return entry ? [entry] : [];
    }
    const entries: InboxEntry[] = [];
    for (const grant of await this.env.grants.ofUserIn(ref, userKey)) {
      const entry = await this.#granted(grant, await this.places.of(ref, userKey), person);
      if (entry) entries.push(entry);
    }
    return entries;
  }

  async #own(ref: SessionRef, person: Person): Promise<InboxEntry | null> {
    const record = await this.env.store.record(ref);
    if (!record || record.closed || record.archived) return null;
    return this.#entryOf(record, await this.places.of(ref, person.key), person);
  }

  /**
   * A person's own sessions. One that is used while they are read moves to the front, where they were read before, so what has been used since is read
   * again, until nothing has.
   */
  async #ownAll(person: Person, places: ReadonlyMap<string, ReadPlace>): Promise<FoundEntries> {
    const found = new Map<string, InboxEntry>();
    const known = (ref: SessionRef): MaybePromise<ReadPlace | undefined> => places.get(textOfHome(ref));
    // A session that was used meanwhile may have been read, too.
    const present = (ref: SessionRef): Promise<ReadPlace | undefined> => this.places.of(ref, person.key);
    let walk = await this.#walk(found, person, known);
    while (walk.isWhole && walk.isNews) walk = await this.#walk(found, person, present, walk.newest);
    return { entries: [...found.values()], isWhole: walk.isWhole };
  }

  /** Reads a person's own sessions, the one used last first, back to those used before a time. */
  async #walk(
    found: Map<string, InboxEntry>,
    person: Person,
    placeOf: (ref: SessionRef) => MaybePromise<ReadPlace | undefined>,
    usedSince = Number.NEGATIVE_INFINITY,
  ): Promise<Walk> {
    let newest = usedSince;
    let isNews = false;
    let before: ListPlace | undefined;
    do {
      const { records, next } = await this.env.store.list(person.scope, { limit: PAGE, before });
      for (const record of records) {
        if (record.updatedAt < usedSince) return { newest, isNews, isWhole: true };
        newest = Math.max(newest, record.updatedAt);
        const read = andThen(placeOf(record.ref), (place) => this.#entryOf(record, place, person));
        // Nearly all are found at once, and a turn of the microtasks for each would cost as much as they do.
        const entry = isPromise(read) ? await read : read;
        if (!entry) continue;
        const { sessionId } = entry.row;
        // A single page is read at once, so nothing moves meanwhile.
        isNews ||= next !== null && found.get(sessionId)?.recordedAt !== entry.recordedAt;
        found.set(sessionId, entry);
      }
      before = next ?? undefined;
      // A long inbox must not hold up others.
      if (before) await nextTurn();
    } while (before && found.size < INBOX_SESSIONS);
    return { newest, isNews, isWhole: !before };
  }

  /** Sessions that others share with a user. */
  async #shared(person: Person, places: ReadonlyMap<string, ReadPlace>): Promise<FoundEntries> {
    const entries: InboxEntry[] = [];
    let after: FoundGrant | null = null;
    do {
      const page = await this.env.grants.ofUser(person.key, PAGE, after);
      for (const grant of page.grants) {
        if (grant.home.scope === person.scope) continue;
        const entry = await this.#granted(grant, places.get(textOfHome(grant.home)), person);
        if (entry) entries.push(entry);
      }
      after = page.next;
      if (after) await nextTurn();
    } while (after && entries.length < INBOX_SESSIONS);
    return { entries, isWhole: !after };
  }

  /** A session that a user reaches by a grant, as long as its conversation goes on. */
  async #granted(
    { home, epoch, kept: { grant } }: FoundGrant,
    place: ReadPlace | undefined,
    person: Person,
  ): Promise<InboxEntry | null> {
    const record = await this.env.store.record(home);
    if (!record || record.closed || record.archived || record.epoch !== epoch) return null;
    return this.#entryOf(record, place, person, grant);
  }

  #entryOf(
    record: SessionRecord,
    place: ReadPlace | undefined,
    person: Person,
    via?: { readonly grantId: string; readonly as: GrantRole },
  ): MaybePromise<InboxEntry | null> {
    return andThen(this.env.mayShow(record.ref, person, via), (shows) => {
      if (!shows) return null;
      const current = place?.epoch === record.epoch ? place : undefined;
      return andThen(this.#unread(record, current), (unread) => this.#shown(record, current, unread, via));
    });
  }

  #shown(
    record: SessionRecord,
    current: ReadPlace | undefined,
    unread: number,
    via?: { readonly grantId: string },
  ): InboxEntry {
    const { ref, title, pending, activity, updatedAt, createdAt } = record;
    const row: InboxRow = {
      sessionId: this.env.apps.format(ref.app, via ? grantName(via.grantId) : ref.name),
      app: ref.app,
      ...(title !== undefined && { title }),
      unread,
      running: activity.status === 'running' || activity.queued > 0,
      waiting: pending,
      ended: false,
      changedAt: updatedAt,
      ...(current && { readTo: current.cursor }),
    };
    const changedAt = recordedAt(record);
    return { ref, row, changedAt: Math.max(changedAt, current?.at ?? 0), createdAt, recordedAt: changedAt };
  }

  #unread(record: SessionRecord, place: ReadPlace | undefined): MaybePromise<number> {
    const behind = behindOf(record, place);
    const counted = unreadBy(record, behind);
    if (counted !== null) return counted;
    const { count, last, rewound } = record.arrivals!;
    const key = JSON.stringify([textOfHome(record.ref), record.epoch, behind.seq, count, rewound]);
    const known = this.#counts.get(key);
    if (known) return known;
    const counting = this.env.logOf(record.ref).then(async (log) => {
      const unread = await recount(log, behind);
      // Lists show what the store has, whose answer may still be on its way to the log.
      if (log.head < Math.max(last, rewound)) this.#counts.delete(key);
      return unread;
    });
    if (this.#counts.size >= REMEMBERED) this.#counts.clear();
    this.#counts.set(key, counting);
    // A session that was closed meanwhile has nothing unread. After a failure the next look counts again.
    return counting.catch(() => {
      this.#counts.delete(key);
      return 0;
    });
  }
}

const totalsOf = ({ entries, unread, waiting, at }: InboxState): PageTotals => ({
  ...{ unread, waiting },
  place: formatPlace({ at, sessions: hashOfAll(entries.map(({ row }) => row.sessionId)) }),
});

/** Time at which a session's part of lists last changed, by the store's clock. */
export const recordedAt = ({ updatedAt, arrivals = NO_ARRIVALS }: SessionRecord): number =>
  Math.max(updatedAt, arrivals.changedAt);
