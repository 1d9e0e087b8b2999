import { formatCursor } from '../../shared/cursor.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import {
  type Activity,
  type Checkpoint,
  IDLE,
  type LogHead,
  type LogRef,
  type Store,
  type StoredEvent,
} from '../stores/store.js';
import { activityOf } from './activity.js';
import { parseEvent } from './entry.js';
import { LazyFold } from './lazy-fold.js';
import { DEFAULT_PAGE_BYTES } from './log-options.js';
import { type ReadableLog, termAt } from './readable-log.js';
import { RetainedRange } from './retained-range.js';
import { showing } from './showing.js';

/** Messages kept in memory for turns and snapshots; older ones are read from the store. */
const MESSAGES_IN_MEMORY = 1000;
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
  #activity: Activity | null;
  #folded: Folded | null = null;
  /** What is folded is of no use any more: the log was cut elsewhere, or lost its tail. */
  #stale = false;
  #folding: Promise<unknown> | null = null;
  /** Finds out whether a cut was made whose answer was lost; set while the log is written here. */
  settleCut: (() => Promise<void>) | null = null;

  constructor(store: Store, ref: LogRef, head: LogHead, pageBytes: number = DEFAULT_PAGE_BYTES) {
    this.#store = store;
    this.ref = ref;
    this.head = head.head;
    this.#first = head.first;
    this.#terms = head.terms;
    this.#activity = head.activity ?? null;
    this.pageBytes = pageBytes;
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
    return andThen(this.#store.read(this.ref, after, limit, bytes), (read) => {
      const page = read.length > 0 && read.at(-1)!.seq > this.head ? this.#known(read) : read;
      const isMissing = after < this.head && after >= this.first - 1 && page[0]?.seq !== after + 1;
      return isMissing ? andThen(this.settleCut?.() ?? this.#lookAgain(), () => page) : page;
    });
  }

  #known(page: readonly StoredEvent[]): readonly StoredEvent[] {
    return page.filter(({ seq }) => seq <= this.head);
  }

  /** The last `limit` messages up to one that a cut put into a row, oldest first; none where there is no such row. */
  storedMessages(tip: string, limit: number): MaybePromise<readonly Message[]> {
    return this.#store.messages(this.ref, { tip, limit });
  }

  /** What the session is doing, as the log has it. */
  get activity(): Activity {
    return this.#activity ?? IDLE;
  }

  /** Finds out what the session is doing where its writer never said, as those of former versions. */
  settleActivity(): MaybePromise<void> {
    if (this.#activity) return;
    return andThen(this.folded(), (state) => {
      this.#activity ??= activityOf(state, state.run ? this.first - 1 : undefined);
    });
  }

  /** Takes note of where the log stands by now. */
  update({ head, first, terms, activity }: LogHead): void {
    // What was asked for earlier and came later is no news.
    if (head < this.head && terms.at(-1)?.term === this.#terms.at(-1)?.term) return;
    if (first > this.first || head < (this.#folded?.at ?? 0)) this.#stale = true;
    this.head = head;
    this.#first = first;
    this.#terms = terms;
    this.#activity = activity ?? null;
  }

  /** The fold at `head`, once it is folded up to there. Its `messages` are the last ones only: those before them are rows. */
  get state(): SessionState {
    return this.#folded!.fold.state;
  }

  /** The fold just before `first`, once anything is folded. */
  get base(): Checkpoint {
    return this.#folded!.range.base;
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
      return this.#catchUp(folded);
    });
  }

  #lookAgain(): MaybePromise<void> {
    return andThen(this.#store.head(this.ref, this.ref.epoch), (head) => {
      this.#stale = true;
      if (head) this.update(head);
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

  /** What is now in rows may leave memory: the path to the tip of a checkpoint. */
  forgetMessages({ state: { tip } }: Checkpoint): void {
    const { messages } = this.state;
    const kept = messages.findLastIndex(({ id }) => id === tip) + 1;
    const excess = Math.min(messages.length - MESSAGES_IN_MEMORY, kept);
    if (excess > 0) this.#folded!.fold.state = showing(this.state, messages.slice(excess));
  }
}
