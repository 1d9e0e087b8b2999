import { formatCursor } from '../../shared/cursor.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { type News, StoreError } from '../stores/append.js';
import type { Rewrites } from '../stores/rewrites.js';
import type { Store } from '../stores/store.js';
import type { Activity, Checkpoint, LogHead, LogRef, MessagePlace, StoredEvent } from '../stores/stored.js';
import { parseEvent } from './entry.js';
import { LazyFold } from './lazy-fold.js';
import { DEFAULT_PAGE_BYTES } from './log-options.js';
import { messageOf } from './message-places.js';
import { type ReadableLog, termAt } from './readable-log.js';
import { RetainedRange } from './retained-range.js';
import { showing } from './showing.js';
import { Tail } from './tail.js';

/** Messages that are kept in memory for turns and snapshots, and shown to an app. Older ones are read from the store. */
export const MESSAGES_IN_MEMORY = 1000;
const PAGE = { events: 1000, bytes: 1 << 20 };

/** The folded part of a view. */
interface Folded {
  readonly fold: LazyFold;
  readonly range: RetainedRange;
  /** Place up to which events are folded. */
  at: number;
}

/**
 * The readers' view of a log: its place, its terms and its fold, which is made when first needed. If the log is held here, its writer feeds
 * the view. Otherwise the view is as fresh as the last head it was given.
 */
export class LogView implements ReadableLog {
  readonly ref: LogRef;
  /** Size of the messages of a snapshot or of a page of history, in bytes of JSON. */
  readonly pageBytes: number;
  head: number;
  readonly #store: Store;
  /** First retained sequence number by the store's last head, used while there is no usable fold. */
  #first: number;
  #terms: LogHead['terms'];
  #activity: Activity;
  #folded: Folded | null = null;
  /** Set when the fold is useless: the log was cut elsewhere, or lost its tail. */
  #stale = false;
  #isReplaced = false;
  #folding: Promise<unknown> | null = null;
  readonly #tail = new Tail();
  /** Finds out whether a cut was made whose answer was lost. Set while the log is written here. */
  settleCut: (() => Promise<void>) | null = null;

  constructor(store: Store, ref: LogRef, head: LogHead, pageBytes: number = DEFAULT_PAGE_BYTES) {
    this.#store = store;
    this.ref = ref;
    this.head = head.head;
    this.#first = head.first;
    this.#terms = head.terms;
    this.#activity = head.activity;
    this.pageBytes = pageBytes;
  }

  /** Whether the store lost the tail of the log as seen here, so that a new view must replace this one. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** Lowest retained sequence number; `head + 1` if nothing is retained. */
  get first(): number {
    return this.#stale ? this.#first : (this.#folded?.range.first ?? this.#first);
  }

  get cursor(): string {
    return this.cursorAt(this.head);
  }

  cursorAt(seq: number): string {
    return formatCursor(this.ref.epoch, this.termAt(seq), seq);
  }

  termAt(seq: number): number {
    return termAt(this.#terms, seq);
  }

  /**
   * Reads events up to the head. The store may have more, but nobody here has been told of them yet. If the next event is missing, the
   * result waits until it is known where the log was cut.
   *
   * @throws StoreError `UNAVAILABLE` where the store says that it has the next event, and does not show it
   */
  read(after: number, limit: number, bytes: number): MaybePromise<readonly StoredEvent[]> {
    const heard = this.#tail.read(after, limit, bytes);
    if (heard) return heard;
    return andThen(this.#store.read(this.ref, after, limit, bytes), (read) => {
      const page = this.#known(read);
      const isMissing = after < this.head && after >= this.first - 1 && page[0]?.seq !== after + 1;
      return isMissing ? andThen(this.settleCut?.() ?? this.#lookAgain(), () => page) : page;
    });
  }

  /** The part of a page up to the head. Empty if the page ends in another term than the view has there. */
  #known(page: readonly StoredEvent[]): readonly StoredEvent[] {
    const known =
      page.length > 0 && page.at(-1)!.seq > this.head ? page.filter(({ seq }) => seq <= this.head) : page;
    const last = known.at(-1);
    return last && last.term !== this.termAt(last.seq) ? [] : known;
  }

  /** The last `limit` stored messages up to one, oldest first. Empty if that message has no row. */
  storedMessages(tip: string, limit: number): MaybePromise<readonly Message[]> {
    return andThen(this.#store.messages(this.ref, { tip, limit }), (rows) => rows.map(messageOf));
  }

  /** The place of a message among the stored ones; null if it has no row. */
  storedPlace(id: string): MaybePromise<MessagePlace | null> {
    return andThen(this.#store.messages(this.ref, { tip: id, limit: 1 }), ([row]) => row ?? null);
  }

  /** Ids of the stored messages that follow one. */
  storedReplies(parent: string | null): MaybePromise<readonly string[]> {
    return this.#store.replies(this.ref, parent);
  }

  /** Messages off the path that may have no rows yet, by id. Needs a folded view. */
  get aside(): ReadonlyMap<string, Message> {
    return this.#folded!.fold.aside;
  }

  /** Messages that changed since their rows were written: those on the path up to `tip`, and others that `isOther` picks. Needs a folded view. */
  changedTo(tip: string | null, isOther: (id: string) => boolean): readonly Message[] {
    const { changed, state, aside } = this.#folded!.fold;
    if (changed.size === 0) return [];
    const upTo = state.messages.findLastIndex(({ id }) => id === tip) + 1;
    const others = [...aside.values()].filter(({ id }) => isOther(id));
    return [...others, ...state.messages.slice(0, upTo)].filter(({ id }) => changed.has(id));
  }

  /** Number of moves of the path since it was first folded here. */
  get moves(): number {
    return this.#folded!.fold.moves;
  }

  /** The part of the current path that every subscriber is known to have, including those that started from a snapshot. Needs a folded view. */
  get sureFrom(): string | undefined {
    return this.#folded!.fold.sureFrom;
  }

  /** The activity of the session, according to the log. */
  get activity(): Activity {
    return this.#activity;
  }

  /** Takes note of the store's present head of the log. */
  update({ head, first, terms, activity }: LogHead): void {
    const [known = 0, term = 0] = [this.#terms, terms].map((each) => each.at(-1)?.term);
    // Ignore a head that is older than the present one.
    if (term < known || (head < this.head && term === known)) return;
    if (head < this.head || (this.head > 0 && termAt(terms, this.head) !== this.termAt(this.head))) {
      this.#isReplaced = true;
      return;
    }
    if (first > this.first) this.#stale = true;
    if (head > this.head) this.#tail.clear();
    this.head = head;
    this.#first = first;
    this.#terms = terms;
    this.#activity = activity;
    for (const news of this.#tail.takeAhead()) this.follow(news);
  }

  /**
   * Takes a batch that the writer at another gateway appended.
   *
   * @returns Whether the view is now up to date. If not, batches are missing in between, or there is another writer
   */
  follow(news: News): boolean {
    const { epoch, events } = news;
    const term = this.#terms.at(-1)?.term;
    if (epoch !== this.ref.epoch || this.#isReplaced || events[0]!.term < term!) return false;
    if (events[0]!.term > term! || events[0]!.seq > this.head + 1) {
      this.#tail.keep(news);
      return false;
    }
    const fresh = events.filter(({ seq }) => seq > this.head);
    if (fresh.length > 0) {
      this.#tail.add(fresh);
      this.head = fresh.at(-1)!.seq;
    }
    return true;
  }

  /** The fold at `head`. Needs a folded view. Its `messages` are the last ones; earlier ones are rows in the store. */
  get state(): SessionState {
    return this.#folded!.fold.state;
  }

  /** The fold just before `first`. Needs a folded view. */
  get base(): Checkpoint {
    return this.#folded!.range.base;
  }

  /** Whether the fold still begins at a checkpoint, so that nothing was cut meanwhile, here or elsewhere. */
  isFoldedFrom(base: Checkpoint): boolean {
    return !this.#stale && this.#folded?.range.base === base;
  }

  /** The retained range. Needs a folded view. */
  get range(): RetainedRange {
    return this.#folded!.range;
  }

  /** Folds the events up to `head` that are not folded yet. */
  folded(): MaybePromise<SessionState> {
    const folded = this.#stale ? null : this.#folded;
    if (folded?.at === this.head) return this.state;
    if (this.#folding) return this.#folding.then(() => this.folded());
    const folding = andThen(folded ?? this.#start(), (begun) => this.#catchUp(begun));
    if (!isPromise(folding)) return this.folded();
    this.#folding = folding.finally(() => {
      this.#folding = null;
    });
    return this.#folding.then(() => this.folded());
  }

  #start(): MaybePromise<Folded> {
    if (this.#isReplaced) throw this.#lacking('has lost');
    this.#stale = false;
    return andThen(this.#store.checkpoint(this.ref), (checkpoint) => {
      const range = new RetainedRange(checkpoint);
      const { state, seq } = range.base;
      const rows = state.tip === null ? [] : this.storedMessages(state.tip, MESSAGES_IN_MEMORY);
      return andThen(rows, (messages) => {
        const fold = new LazyFold(showing(state, messages));
        return { fold, range, at: seq };
      });
    });
  }

  #catchUp(folded: Folded): MaybePromise<void> {
    // The log was cut elsewhere beyond the known head.
    if (folded.at > this.head && !this.#stale) return this.#lookAgain();
    if (folded.at >= this.head || this.#stale) {
      this.#folded = folded;
      return;
    }
    return andThen(this.read(folded.at, PAGE.events, PAGE.bytes), (page) => {
      // The log's writer at another gateway cut the next events.
      if (page.length > 0 && page[0]!.seq !== folded.at + 1) {
        this.#stale = true;
        return;
      }
      for (const record of page) {
        this.#add(folded, record, parseEvent(record));
      }
      // If the store lost events, its heads and terms tell, not an empty page.
      if (page.length === 0) folded.at = this.head;
      // Yield between pages: a store that answers at once would fold a long log in one step of the event loop.
      const goOn = () => this.#catchUp(folded);
      return folded.at < this.head ? new Promise(setImmediate).then(goOn) : goOn();
    });
  }

  #lookAgain(): MaybePromise<void> {
    const { first, head: known } = this;
    return andThen(this.#store.head(this.ref, this.ref.epoch), (head) => {
      this.#stale = true;
      if (!head || head.head < known) this.#isReplaced = true;
      else this.update(head);
      if (!this.#isReplaced && this.head === known && this.first === first)
        throw this.#lacking('does not show');
    });
  }

  #lacking(does: string): StoreError {
    return new StoreError(
      'UNAVAILABLE',
      `The store ${does} events of session ${this.ref.name} that this gateway has seen`,
    );
  }

  #add(folded: Folded, record: StoredEvent, event: GatewayEvent): void {
    folded.fold.add(event);
    folded.range.added(record);
    folded.at = record.seq;
  }

  /** Takes an event that the writer here committed. */
  ingest(record: StoredEvent, event: GatewayEvent): void {
    this.head = record.seq;
    this.#add(this.#folded!, record, event);
  }

  /** Takes events that the writer here committed and has folded already. */
  ingestFolded(records: readonly StoredEvent[], state: SessionState): void {
    const { fold, range } = this.#folded!;
    for (const record of records) range.added(record);
    fold.state = state;
    this.head = records.at(-1)!.seq;
    this.#folded!.at = this.head;
  }

  /** Takes note of what the writer here rewrote. @param grown Characters by which the events grew */
  rewritten({ checkpoint }: Rewrites, grown: number): void {
    this.#folded!.range.rewritten(checkpoint, grown);
  }

  /** Takes the activity that the writer here stored. */
  become(activity: Activity): void {
    this.#activity = activity;
  }

  /** Lets messages leave memory that now have rows: the path to the tip of a checkpoint, and those off the path. */
  forgetMessages({ state: { tip } }: Checkpoint, stored: readonly Message[]): void {
    this.#folded!.fold.forgetAside(stored);
    for (const { id } of stored) this.#folded!.fold.changed.delete(id);
    const { messages } = this.state;
    const kept = messages.findLastIndex(({ id }) => id === tip) + 1;
    const excess = Math.min(messages.length - MESSAGES_IN_MEMORY, kept);
    if (excess > 0) this.#folded!.fold.state = showing(this.state, messages.slice(excess));
  }
}
