import type { SubscriptionInfo } from '../../../shared/events.js';
import { INBOX, type InboxRow } from '../../../shared/inbox/contract.js';
import { formatPlace, hashOf, hashOfAll, parsePlace } from '../../../shared/inbox/inbox-place.js';
import type { Person } from '../../auth/types.js';
import type { Followed } from '../../delivery/connection.js';
import type { TransientPayload } from '../../delivery/wire-form.js';
import { textOfHome } from '../../stores/records.js';
import { storeTime } from '../../stores/skew.js';
import type { SessionRef } from '../../stores/stored.js';
import type { Follower, InboxChanges } from './changes.js';
import { type Inbox, type InboxEntry, type InboxState, recordedAt } from './inbox.js';

/** Time between two rounds of changes at least, in milliseconds. */
const PACE_MS = 250;
/** A place may lack changes of this time before it, in milliseconds: clocks differ, and other gateways are heard late. */
const MARGIN_MS = 20_000;
/** Age in milliseconds from which on a place does not count. */
const OLDEST_MS = 24 * 3_600_000;
/** Rows of a page that replaces everything the client knows. */
const FIRST_ROWS = 50;
/** Rows of one event. */
const ROWS = 100;
/** Sessions to check for changes of other gateways. */
const NEWEST = 20;
/** Looks after which the whole inbox is read: if other gateways use the store, and if none does. */
const WHOLE = { shared: 10, alone: 60 };

/** The connection that a stream writes to. */
export interface InboxOutlet {
  readonly writable: boolean;
  readonly person: Person;
  send(type: 'inbox', data: TransientPayload<'inbox'>, id?: string): void;
  report(error: unknown, what: string): void;
}

/** The remembered part of a row that was sent. */
interface SentRow {
  readonly ref: SessionRef;
  readonly app: string;
  readonly unread: number;
  readonly waiting: number;
  readonly hash: number;
  readonly recordedAt: number;
}

/**
 * The changes of one inbox for one connection. It sends the newest state of each session. While the client does not keep up, it keeps only
 * the names of the sessions that have changed.
 */
export class InboxStream implements Followed, Follower {
  readonly scope: string;
  readonly userKey: string;
  readonly #inbox: Inbox;
  readonly #outlet: InboxOutlet;
  readonly #changes: InboxChanges;
  readonly #stop: () => void;
  readonly #known = new Map<string, SentRow>();
  /** Sessions of other scopes that are shown: the ids of their rows, one for each grant, and the end of the watch. */
  readonly #shared = new Map<string, { readonly ids: Set<string>; stop(): void }>();
  /** Sessions that may have changed. */
  readonly #touched = new Map<string, SessionRef>();
  /** Rows to be sent. */
  readonly #pending = new Map<string, InboxRow>();
  #isReset = false;
  #isToLook = false;
  #unread = 0;
  #waiting = 0;
  /** Hash of the ids of all known sessions. */
  #hash = 0;
  /** Time up to which every change is sent once nothing is pending. */
  #at = 0;
  #looks = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #working = false;
  #isOpen = false;
  #isClosed = false;

  constructor(inbox: Inbox, changes: InboxChanges, outlet: InboxOutlet) {
    this.#inbox = inbox;
    this.#outlet = outlet;
    this.scope = outlet.person.scope;
    this.userKey = outlet.person.key;
    this.#changes = changes;
    this.#stop = changes.follow(this);
  }

  /** Finds the rows to send from a place on. */
  async open({ cursor }: { readonly cursor?: string | undefined }): Promise<SubscriptionInfo> {
    const look = await this.#inbox.look(this.#outlet.person);
    const since = cursor === undefined ? null : sinceOf(cursor, look, storeTime(this.#inbox.env.store));
    for (const entry of look.entries) this.#know(entry);
    const told = since === null ? look.entries.slice(0, FIRST_ROWS) : look.entries.filter(isAfter(since));
    for (const { row } of told) this.#pending.set(row.sessionId, row);
    this.#isReset = since === null;
    this.#at = look.at;
    const resume = since !== null ? 'exact' : cursor === undefined ? 'new' : 'gap';
    return { epoch: null, first: 1, head: 0, resume, next: 1, status: 'idle', queued: 0 };
  }

  begin(): void {
    this.#isOpen = true;
    this.#flush();
    this.#wake();
  }

  pump(): void {
    this.#flush();
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
    for (const { stop } of this.#shared.values()) stop();
  }

  get announcing(): boolean {
    return !this.#isOpen || this.#isReset;
  }

  get caughtUp(): boolean {
    return this.#isOpen && this.#pending.size === 0 && this.#touched.size === 0;
  }

  /** Null until the first rows are all sent. */
  get cursor(): string | null {
    if (this.announcing || this.#pending.size > 0) return null;
    return formatPlace({ at: this.#at, sessions: this.#hash });
  }

  changed(ref: SessionRef): void {
    this.#touched.set(textOfHome(ref), ref);
    this.#wake();
  }

  look(): void {
    this.#looks += 1;
    const isShared = this.#inbox.env.store.shared !== undefined;
    const isWhole = this.#looks % (isShared ? WHOLE.shared : WHOLE.alone) === 0;
    if (!isShared && !isWhole) return;
    if (isWhole) this.#isToLook = true;
    else void this.#lookAtNewest();
    this.#wake();
  }

  /** Finds sessions that other gateways have changed. The store lists the session used last first. */
  async #lookAtNewest(): Promise<void> {
    if (!this.#outlet.writable || !this.#isOpen) return;
    const { store, apps } = this.#inbox.env;
    try {
      const { records } = await store.list(this.scope, { limit: NEWEST });
      for (const record of records) {
        const { app, name } = record.ref;
        if (this.#known.get(apps.format(app, name))?.recordedAt === recordedAt(record)) continue;
        this.#touched.set(textOfHome(record.ref), record.ref);
      }
      if (records.length === NEWEST && this.#touched.size >= NEWEST) this.#isToLook = true;
      this.#wake();
    } catch (error) {
      this.#outlet.report(error, 'looking at an inbox');
    }
  }

  /** Schedules the next piece of work, if there is any and the client can take it. */
  #wake(): void {
    if (this.#working || this.#isClosed || !this.#isOpen || !this.#outlet.writable) return;
    if (this.#touched.size === 0 && !this.#isToLook && this.#pending.size === 0) return;
    this.#working = true;
    const waitMs = this.#sentAt + PACE_MS - performance.now();
    const work = (): void => {
      void this.#work().finally(() => {
        this.#working = false;
        this.#wake();
      });
    };
    if (waitMs > 0) setTimeout(work, waitMs).unref();
    else setImmediate(work);
  }

  async #work(): Promise<void> {
    if (this.#isClosed || !this.#outlet.writable) return;
    const touched = [...this.#touched.values()];
    this.#touched.clear();
    const isWhole = this.#isToLook;
    this.#isToLook = false;
    const { store } = this.#inbox.env;
    const at = storeTime(store);
    try {
      if (isWhole) this.#compare(await this.#inbox.look(this.#outlet.person));
      else
        for (const ref of touched) {
          const entries = await this.#inbox.entriesOf(ref, this.#outlet.person);
          const ids = entries.map(({ row }) => row.sessionId);
          for (const id of this.#rowsOf(ref)) if (!ids.includes(id)) this.#drop(id);
          for (const entry of entries) this.#take(entry);
        }
      this.#at = at;
    } catch (error) {
      this.#outlet.report(error, 'reading an inbox');
      this.#isToLook = true;
      // Do not retry at once: the store may be away.
      this.#sentAt = performance.now();
      return;
    }
    this.#flush();
  }

  /** Ids of the known rows of a session. */
  #rowsOf(ref: SessionRef): readonly string[] {
    const { apps } = this.#inbox.env;
    if (ref.scope === this.scope) return [apps.format(ref.app, ref.name)];
    return [...(this.#shared.get(textOfHome(ref))?.ids ?? [])];
  }

  #watch(ref: SessionRef, sessionId: string): void {
    if (this.#isClosed) return;
    const of = textOfHome(ref);
    const shared = this.#shared.get(of) ?? { ids: new Set(), stop: this.#changes.watch(ref, this) };
    shared.ids.add(sessionId);
    this.#shared.set(of, shared);
  }

  #unwatch(ref: SessionRef, sessionId: string): void {
    const of = textOfHome(ref);
    const shared = this.#shared.get(of);
    shared?.ids.delete(sessionId);
    if (shared?.ids.size !== 0) return;
    shared.stop();
    this.#shared.delete(of);
  }

  #compare({ entries, isWhole }: InboxState): void {
    const ids = new Set(entries.map(({ row }) => row.sessionId));
    for (const entry of entries) this.#take(entry);
    if (isWhole) for (const id of [...this.#known.keys()]) if (!ids.has(id)) this.#drop(id);
  }

  /** Remembers a row. Returns whether it has changed. */
  #know({ ref, row, recordedAt }: InboxEntry): boolean {
    const { sessionId, app, unread, waiting } = row;
    const hash = hashOf(JSON.stringify(row));
    const before = this.#known.get(sessionId);
    this.#known.set(sessionId, { ref, app, unread, waiting, hash, recordedAt });
    if (!before) this.#hash = (this.#hash ^ hashOf(sessionId)) >>> 0;
    if (!before && ref.scope !== this.scope) this.#watch(ref, sessionId);
    this.#unread += unread - (before?.unread ?? 0);
    this.#waiting += waiting - (before?.waiting ?? 0);
    return before?.hash !== hash;
  }

  #take(entry: InboxEntry): void {
    if (this.#know(entry)) this.#pending.set(entry.row.sessionId, entry.row);
  }

  #drop(sessionId: string): void {
    const before = this.#known.get(sessionId);
    if (!before) return;
    this.#known.delete(sessionId);
    if (before.ref.scope !== this.scope) this.#unwatch(before.ref, sessionId);
    this.#hash = (this.#hash ^ hashOf(sessionId)) >>> 0;
    this.#unread -= before.unread;
    this.#waiting -= before.waiting;
    const { app } = before;
    const changedAt = storeTime(this.#inbox.env.store);
    const nothing = { unread: 0, running: false, waiting: 0 };
    this.#pending.set(sessionId, { sessionId, app, ...nothing, ended: true, changedAt });
  }

  #flush(): void {
    if (!this.#isOpen || this.#isClosed) return;
    while (this.#outlet.writable && (this.#pending.size > 0 || this.#isReset)) {
      const sessions = [...this.#pending.values()].slice(0, ROWS);
      for (const { sessionId } of sessions) this.#pending.delete(sessionId);
      const isReset = this.#isReset;
      this.#isReset = false;
      const totals = { unread: this.#unread, waiting: this.#waiting };
      // The event has no cursor while rows are pending, so a client that reconnects receives them again.
      const { cursor } = this;
      const change = { sessionId: INBOX, sessions, ...totals, ...(isReset && { reset: true as const }) };
      this.#outlet.send('inbox', cursor === null ? change : { ...change, cursor }, cursor ?? undefined);
      this.#sentAt = performance.now();
    }
  }
}

const isAfter =
  (since: number) =>
  ({ changedAt }: InboxEntry): boolean =>
    changedAt > since;

/** The time from which on a place lacks changes; null if sessions are gone since, or if the place is too old to tell. */
function sinceOf(cursor: string, { entries, isWhole }: InboxState, now: number): number | null {
  const place = parsePlace(cursor);
  if (!place || !isWhole || place.at > now + MARGIN_MS || now - place.at > OLDEST_MS) return null;
  const since = place.at - MARGIN_MS;
  // The place may or may not know sessions that began at about its time.
  const begun = [...entries].sort((a, b) => a.createdAt - b.createdAt);
  const certain = begun.filter(({ createdAt }) => createdAt <= since);
  let hash = hashOfAll(certain.map(({ row }) => row.sessionId));
  if (hash === place.sessions) return since;
  for (const { row } of begun.slice(certain.length)) {
    hash = (hash ^ hashOf(row.sessionId)) >>> 0;
    if (hash === place.sessions) return since;
  }
  return null;
}
