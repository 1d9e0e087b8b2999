import { formatCursor } from '../../shared/cursor.js';
import type { EventDraft } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import {
  type AppendOptions,
  type Checkpoint,
  type EventRecord,
  type LogHead,
  type LogRef,
  type Store,
  type StoredEvent,
  type StoredSend,
  StoreError,
} from '../stores/store.js';
import { LogBatch } from './batch.js';
import { type Entry, parseEvent, toEntry } from './entry.js';
import { LazyFold } from './lazy-fold.js';
import { outcomeOf } from './outcome.js';
import { termAt } from './past-log.js';
import { cutLog, exceeds, type Retention } from './retention.js';
import { StoreRetry } from './store-retry.js';
import { unavailable } from './unavailable.js';

/** What a subscriber needs of a log: where it stands, and a way to read it. */
export interface ReadableLog {
  readonly ref: LogRef;
  readonly first: number;
  readonly head: number;
  /** The term in which `seq` was written; the last writer's for a place before the first event. */
  termAt(seq: number): number;
  read(after: number, limit: number, bytes: number): MaybePromise<readonly StoredEvent[]>;
}

/** What an append came to. */
export interface Committed {
  readonly first: number;
  readonly last: number;
  readonly duplicate?: StoredSend;
}

/** Drafts, or what makes them of the state just before them once everything earlier is committed. */
type Drafts = readonly EventDraft[] | ((state: SessionState) => readonly EventDraft[]);
type GroupOptions = Pick<AppendOptions, 'dedupe' | 'opens' | 'ends' | 'close'> & {
  readonly settleKey?: string | undefined;
  /** Somebody waits for it who can be told no: it is refused while the store can't be written. The rest is kept and tried again. */
  readonly refusable?: boolean;
};

interface Group {
  readonly entries: Entry[] | ((state: SessionState) => readonly EventDraft[]);
  readonly options: GroupOptions | null;
  readonly waiter: { resolve(value: Committed): void; reject(error: unknown): void } | null;
}

/** Messages kept in memory for turns and snapshots; older ones are read from the store. */
export const MESSAGES_IN_MEMORY = 1000;
const PAGE = { events: 1000, bytes: 1 << 20 };
/** Characters of events that wait for a store which can't be written; beyond that the log is given up. */
const MAX_HELD = 8 * 1024 * 1024;

/** What the owner of a log hears. */
export interface LogListener {
  /** Events were committed. Called once for all commits of a flush. */
  committed(batch: LogBatch): void;
  /** The store refused a write: the log can't be written any more and what was pending is not in it. */
  broken(error: unknown): void;
  /** The store can't be written or cut now; what was appended is kept here and tried again. */
  unavailable(error: unknown): void;
}

/** The writer of one session's log: batches what an event-loop turn appended, folds what the store acknowledged, and only then lets it be seen. */
export class SessionLog implements ReadableLog {
  readonly ref: LogRef;
  readonly term: number;
  first: number;
  head: number;
  /** The fold just before `first`. */
  base: Checkpoint;
  /** Size of the retained events, in characters. */
  bytes = 0;
  readonly terms: LogHead['terms'];
  readonly #fold: LazyFold;
  readonly #store: Store;
  readonly #retention: Retention;
  readonly #listener: LogListener;
  #groups: Group[] = [];
  #batch = 0;
  #scheduled = false;
  #busy = false;
  #broken: unknown = null;
  #dropped = 0;
  #fresh: EventRecord[] = [];
  #cutting: Promise<void> | null = null;
  readonly #retry = new StoreRetry(() => this.#flush());

  private constructor(
    store: Store,
    ref: LogRef,
    head: LogHead,
    checkpoint: Checkpoint | null,
    options: { readonly retention: Retention; readonly listener: LogListener },
  ) {
    this.#store = store;
    this.#retention = options.retention;
    this.#listener = options.listener;
    this.ref = ref;
    this.term = head.term;
    this.terms = head.terms;
    this.first = head.first;
    this.base = checkpoint ?? { seq: 0, state: initialState, messageCount: 0 };
    this.head = this.base.seq;
    this.#fold = new LazyFold(this.base.state);
  }

  /** Place just before the `message_start` that came last, as far as it was read here. */
  lastStart: number | null = null;

  /** Opens an acquired log and folds it. */
  static open(
    store: Store,
    acquired: { readonly ref: LogRef; readonly head: LogHead; readonly checkpoint: Checkpoint | null },
    options: { readonly retention: Retention; readonly listener: LogListener },
  ): MaybePromise<SessionLog> {
    const log = new SessionLog(store, acquired.ref, acquired.head, acquired.checkpoint, options);
    const { messageCount, state } = log.base;
    const rows =
      messageCount > 0 ? store.messages(log.ref, { limit: MESSAGES_IN_MEMORY, before: messageCount }) : [];
    return andThen(rows, (messages) => {
      log.#dropped = messageCount - messages.length;
      log.#fold.state = { ...state, messages };
      return andThen(log.#catchUp(acquired.head.head), () => log);
    });
  }

  /** The fold at `head`. Its `messages` are the last ones only; see `messageCount`. */
  get state(): SessionState {
    return this.#fold.state;
  }

  get messageCount(): number {
    return this.#dropped + this.state.messages.length;
  }

  get cursor(): string {
    return formatCursor(this.ref.epoch, this.termAt(this.head), this.head);
  }

  termAt(seq: number): number {
    return termAt(this.terms, seq);
  }

  read(after: number, limit: number, bytes: number): MaybePromise<readonly StoredEvent[]> {
    return this.#store.read(this.ref, after, limit, bytes);
  }

  /** Messages that a cut put into rows. */
  storedMessages(before: number, limit: number): MaybePromise<readonly Message[]> {
    return this.#store.messages(this.ref, { before, limit });
  }

  /**
   * Appends one event with the others of this event-loop turn and returns the size of its body. Losing the log is reported to
   * the listener.
   *
   * @throws TypeError when the event is not JSON.
   */
  append(draft: EventDraft): number {
    const entry = toEntry(draft);
    const size = entry.record.body.length;
    if (this.#broken) return size;
    const last = this.#groups.at(-1);
    if (last && !last.options && Array.isArray(last.entries)) last.entries.push(entry);
    else this.#groups.push({ entries: [entry], options: null, waiter: null });
    this.#schedule();
    return size;
  }

  /** Appends events atomically, after all that came before, and resolves once they are acknowledged. */
  commit(drafts: Drafts, options: GroupOptions = {}): Promise<Committed> {
    return new Promise((resolve, reject) => {
      const entries = typeof drafts === 'function' ? drafts : drafts.map(toEntry);
      if (this.#broken) return reject(unavailable(this.#broken));
      if (options.refusable && this.#retry.waiting) return reject(unavailable(this.#retry.error));
      this.#groups.push({ entries, options, waiter: { resolve, reject } });
      this.#schedule();
    });
  }

  /** Resolves when everything appended so far is acknowledged; resolves at once when nothing is pending. */
  settled(): MaybePromise<unknown> {
    return this.#groups.length === 0 && !this.#busy ? undefined : this.commit([], { refusable: true });
  }

  /** Whether what was appended waits for a store that can't be written. */
  get stalled(): boolean {
    return this.#retry.waiting;
  }

  /** Resolves once the store takes writes again, or the log was given up. */
  flowing(): Promise<void> {
    return this.#retry.over();
  }

  /** Gives up what could not be stored. */
  abandon(): void {
    this.#broken ??= new StoreError('UNAVAILABLE', 'The log was given up');
    this.#retry.succeeded();
  }

  /** Waits until nothing of this log is on its way to the store, so that another writer can take over. */
  async quiesce(): Promise<void> {
    await this.settled();
    await this.#cutting;
  }

  #schedule(): void {
    if (this.#scheduled || this.#busy || this.#retry.waiting) return;
    this.#scheduled = true;
    process.nextTick(this.#flush);
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    while (this.#groups.length > 0 && !this.#busy && !this.#broken && !this.#retry.pausing) {
      const group = this.#groups.shift()!;
      const entries =
        typeof group.entries === 'function' ? group.entries(this.state).map(toEntry) : group.entries;
      if (entries.length === 0) group.waiter?.resolve({ first: this.head + 1, last: this.head });
      else this.#write(group, entries);
    }
    this.#deliver();
  };

  #write(group: Group, entries: readonly Entry[]): void {
    const { dedupe, opens, ends, close, settleKey } = group.options ?? {};
    const options: AppendOptions = {
      term: this.term,
      batch: ++this.#batch,
      ...(dedupe && { dedupe }),
      ...(opens && { opens }),
      ...(ends !== undefined && { ends }),
      ...(close && { close }),
      ...(settleKey !== undefined && {
        settle: { key: settleKey, result: outcomeOf(entries.map((entry) => entry.event as EventDraft)) },
      }),
    };
    const records = entries.map((entry) => entry.record);
    try {
      const result = this.#store.append(this.ref, records, options);
      if (!isPromise(result)) {
        this.#commit(group, entries, result);
        return;
      }
      this.#busy = true;
      result.then(
        (value) => {
          this.#busy = false;
          this.#commit(group, entries, value);
          this.#flush();
        },
        (error: unknown) => {
          this.#busy = false;
          this.#fail(group, error);
        },
      );
    } catch (error) {
      this.#fail(group, error);
    }
  }

  #commit(group: Group, entries: readonly Entry[], result: Committed): void {
    if (this.#retry.waiting) this.#retry.succeeded();
    if (result.duplicate) this.#batch -= 1;
    else {
      let seq = result.first;
      for (const { record, event } of entries) {
        record.seq = seq++;
        record.term = this.term;
        this.#fold.add(event);
        this.bytes += record.body.length;
        this.#fresh.push(record);
      }
      this.head = result.last;
    }
    group.waiter?.resolve(result);
  }

  #fail(group: Group, error: unknown): void {
    const groups = [group, ...this.#groups];
    const kept = groups.filter(({ options }) => !options?.refusable);
    const later = error instanceof StoreError && error.code === 'UNAVAILABLE' && sizeOf(kept) <= MAX_HELD;
    if (later) {
      this.#batch -= 1;
      this.#groups = kept;
      if (kept.length > 0) {
        if (!this.#retry.waiting) this.#listener.unavailable(error);
        this.#retry.failed(error);
      } else this.#retry.succeeded();
    } else {
      this.#broken = error;
      this.#groups = [];
      this.#retry.succeeded();
    }
    this.#deliver();
    const failure = unavailable(error);
    for (const { waiter, options } of groups) if (!later || options?.refusable) waiter?.reject(failure);
    if (!later) this.#listener.broken(error);
  }

  #deliver(): void {
    if (this.#fresh.length === 0) return;
    const batch = new LogBatch(this.ref.epoch, this.#fresh);
    this.#fresh = [];
    this.#listener.committed(batch);
    if (exceeds(this, this.#retention)) void this.#cut();
  }

  #cut(): MaybePromise<void> {
    if (this.#cutting) return;
    // Nothing is lost by cutting later.
    const failed = (error: unknown): void => this.#listener.unavailable(error);
    try {
      const result = cutLog(this, this.#store, this.#retention);
      if (!isPromise(result)) return;
      this.#cutting = result.catch(failed).finally(() => {
        this.#cutting = null;
      });
      return this.#cutting;
    } catch (error) {
      failed(error);
    }
  }

  /** Cuts what has become too old. */
  expire(): MaybePromise<void> {
    if (this.#cutting || this.#broken) return;
    return andThen(this.read(this.first - 1, 1, 1), ([oldest]) =>
      oldest && oldest.ts < Date.now() - this.#retention.ageMs ? this.#cut() : undefined,
    );
  }

  /** Called by the cut: what is now in rows may leave memory. */
  forgetMessages(kept: number): void {
    const excess = Math.min(this.state.messages.length - MESSAGES_IN_MEMORY, kept - this.#dropped);
    if (excess <= 0) return;
    this.#dropped += excess;
    this.#fold.state = { ...this.state, messages: this.state.messages.slice(excess) };
  }

  #catchUp(head: number): MaybePromise<void> {
    if (this.head >= head) return;
    return andThen(this.read(this.head, PAGE.events, PAGE.bytes), (page) => {
      for (const record of page) {
        this.#fold.add(parseEvent(record));
        this.bytes += record.body.length;
        this.head = record.seq;
        if (record.type === 'message_start') this.lastStart = record.seq - 1;
      }
      return page.length === 0 ? undefined : this.#catchUp(head);
    });
  }
}

function sizeOf(groups: readonly Group[]): number {
  let size = 0;
  for (const { entries } of groups) {
    if (Array.isArray(entries)) for (const { record } of entries) size += record.body.length;
  }
  return size;
}
