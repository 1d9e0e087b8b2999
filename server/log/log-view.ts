import { formatCursor } from '../../shared/cursor.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import {
  type Activity,
  type Checkpoint,
  type LogHead,
  type LogRef,
  type News,
  type Store,
  type StoredEvent,
  StoreError,
} from '../stores/store.js';
import { parseEvent } from './entry.js';
import { healMs } from './heal.js';
import { LazyFold } from './lazy-fold.js';
import { DEFAULT_PAGE_BYTES } from './log-options.js';
import { type ReadableLog, termAt } from './readable-log.js';
import { RetainedRange } from './retained-range.js';
import { showing } from './showing.js';
import { Tail } from './tail.js';

/** Messages kept in memory for turns and snapshots, and shown to an app; older ones are read from the store. */
export const MESSAGES_IN_MEMORY = 1000;
const PAGE = { events: 1000, bytes: 1 << 20 };

/** The folded part of a view. */
interface Folded {
  readonly fold: LazyFold;
  readonly range: RetainedRange;
  /** Place up to which it is folded. */
  at: number;
}

/**
 * A log as those see it who read it, whoever writes it: its place, its terms and its fold, which is made when somebody needs it. Where
 * the log is held here its writer feeds the view; elsewhere the view is as fresh as the head that it was last shown.
 */
export class LogView implements ReadableLog {
  readonly ref: LogRef;
  /** Size of the messages of a snapshot or of a page of history, in bytes of JSON. */
  readonly pageBytes: number;
  head: number;
  readonly #store: Store;
  /** Of the store, where nothing is folded. */
  #first: number;
  #terms: LogHead['terms'];
  #activity: Activity;
  #folded: Folded | null = null;
  /** What is folded is of no use any more: the log was cut elsewhere, or lost its tail. */
  #stale = false;
  #isReplaced = false;
  /** The store lacks what it had, and did not say yet what became of it. */
  #isLacking = false;
  /** Since when it has lacked that; monotonic milliseconds. */
  #lackingSince: number | null = null;
  #folding: Promise<unknown> | null = null;
  readonly #tail = new Tail();
  /** Finds out whether a cut was made whose answer was lost; set while the log is written here. */
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

  /** The store lost the end of what was seen here: another view takes its place. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** Lowest retained sequence number; `head + 1` when nothing is retained. */
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
   * Reads events up to the head: what is behind it may be in the store, but nobody has been told so yet. Where the next one is missing,
   * what was cut is known once it answers.
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

  /** What of a page is known here: nothing where it has another end than the one that was seen. */
  #known(page: readonly StoredEvent[]): readonly StoredEvent[] {
    const known =
      page.length > 0 && page.at(-1)!.seq > this.head ? page.filter(({ seq }) => seq <= this.head) : page;
    const last = known.at(-1);
    return last && last.term !== this.termAt(last.seq) ? [] : known;
  }

  /** The last `limit` messages up to one that a cut put into a row, oldest first; none where there is no such row. */
  storedMessages(tip: string, limit: number): MaybePromise<readonly Message[]> {
    return this.#store.messages(this.ref, { tip, limit });
  }

  /** Ids of the messages that follow one, as far as they are rows. */
  storedReplies(parent: string | null): MaybePromise<readonly string[]> {
    return this.#store.replies(this.ref, parent);
  }

  /** How many messages that are rows the path to one has. */
  storedLength(tip: string): MaybePromise<number> {
    return this.#store.pathLength(this.ref, tip);
  }

  /** Messages that are not on the path and may be no rows yet, by their ids; once it is folded. */
  get aside(): ReadonlyMap<string, Message> {
    return this.#folded!.fold.aside;
  }

  /** Of the messages of the path up to one, and of others, those that were reacted to since rows of them were written; once it is folded. */
  reactedTo(tip: string | null, isOther: (id: string) => boolean): readonly Message[] {
    const { reacted, state, aside } = this.#folded!.fold;
    if (reacted.size === 0) return [];
    const upTo = state.messages.findLastIndex(({ id }) => id === tip) + 1;
    const others = [...aside.values()].filter(({ id }) => isOther(id));
    return [...others, ...state.messages.slice(0, upTo)].filter(({ id }) => reacted.has(id));
  }

  /** How often the path was moved since it was first folded here. */
  get moves(): number {
    return this.#folded!.fold.moves;
  }

  /** What of the path everybody has who follows it, also those who began with a snapshot before it was moved; once it is folded. */
  get sureFrom(): string | undefined {
    return this.#folded!.fold.sureFrom;
  }

  /** What the session is doing, as the log has it. */
  get activity(): Activity {
    return this.#activity;
  }

  /** Takes note of where the log stands by now. */
  update({ head, first, terms, activity }: LogHead): void {
    const [known = 0, term = 0] = [this.#terms, terms].map((each) => each.at(-1)?.term);
    // What was asked for earlier and came later is no news.
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
   * Takes what its writer elsewhere has appended, as it was heard of.
   *
   * @returns Whether that is all there is to know; otherwise it is not all that was appended, or another one writes
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

  /** The fold at `head`, once it is folded up to there. Its `messages` are the last ones only: those before them are rows. */
  get state(): SessionState {
    return this.#folded!.fold.state;
  }

  /** The fold just before `first`, once anything is folded. */
  get base(): Checkpoint {
    return this.#folded!.range.base;
  }

  /** Whether what is folded still begins there: nothing was cut meanwhile, here or elsewhere. */
  isFoldedFrom(base: Checkpoint): boolean {
    return !this.#stale && this.#folded?.range.base === base;
  }

  /** What is kept, once it is folded. */
  get range(): RetainedRange {
    return this.#folded!.range;
  }

  /** Folds up to `head`, as far as that has not been done. */
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
    if (this.#isLacking || this.#isReplaced) {
      this.#isLacking = false;
      throw new StoreError(
        'UNAVAILABLE',
        `The store lacks what it had of the log of session ${this.ref.name}`,
      );
    }
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
    // It was cut elsewhere behind what is known here.
    if (folded.at > this.head && !this.#stale) return this.#lookAgain();
    if (folded.at >= this.head || this.#stale) {
      this.#folded = folded;
      return;
    }
    return andThen(this.read(folded.at, PAGE.events, PAGE.bytes), (page) => {
      // What comes next was cut by the log's writer elsewhere.
      if (page.length > 0 && page[0]!.seq !== folded.at + 1) {
        this.#stale = true;
        return;
      }
      for (const record of page) {
        this.#add(folded, record, parseEvent(record));
      }
      // A store that has lost events says so by its heads and terms, not here.
      if (page.length === 0) folded.at = this.head;
      // Others get their turn: a store that answers at once would have all of a long log folded in one.
      const goOn = () => this.#catchUp(folded);
      return folded.at < this.head ? new Promise(setImmediate).then(goOn) : goOn();
    });
  }

  #lookAgain(): MaybePromise<void> {
    const { first, head: known } = this;
    return andThen(this.#store.head(this.ref, this.ref.epoch), (head) => {
      this.#stale = true;
      if (head) this.update(head);
      this.#isLacking = !head || (this.head === known && this.first === first);
      if (!this.#isLacking) this.#lackingSince = null;
      else this.#lackingSince ??= performance.now();
      // Nobody has told it again what it has forgotten: it is believed.
      const isLost = head !== null && head.head < known && this.#isLacking;
      if (isLost && performance.now() - this.#lackingSince! >= healMs(this.#store)) this.#isReplaced = true;
    });
  }

  #add(folded: Folded, record: StoredEvent, event: GatewayEvent): void {
    folded.fold.add(event);
    folded.range.added(record);
    folded.at = record.seq;
  }

  /** Takes what was committed by the writer here. */
  ingest(record: StoredEvent, event: GatewayEvent): void {
    this.head = record.seq;
    this.#add(this.#folded!, record, event);
  }

  /** The same, where the writer has folded it already. */
  ingestFolded(records: readonly StoredEvent[], state: SessionState): void {
    const { fold, range } = this.#folded!;
    for (const record of records) range.added(record);
    fold.state = state;
    this.head = records.at(-1)!.seq;
    this.#folded!.at = this.head;
  }

  /** The writer here has stored what the session is doing. */
  become(activity: Activity): void {
    this.#activity = activity;
  }

  /** What is now in rows may leave memory: the path to the tip of a checkpoint, and what is not on the path. */
  forgetMessages({ state: { tip } }: Checkpoint, stored: readonly Message[]): void {
    this.#folded!.fold.forgetAside(stored);
    for (const { id } of stored) this.#folded!.fold.reacted.delete(id);
    const { messages } = this.state;
    const kept = messages.findLastIndex(({ id }) => id === tip) + 1;
    const excess = Math.min(messages.length - MESSAGES_IN_MEMORY, kept);
    if (excess > 0) this.#folded!.fold.state = showing(this.state, messages.slice(excess));
  }
}
