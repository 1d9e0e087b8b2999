import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
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
  StoreError,
} from '../stores/store.js';
import type { Answering } from './answering.js';
import {
  type Committed,
  type Drafts,
  endsOf,
  type Group,
  type GroupOptions,
  sizeOf,
} from './append-group.js';
import { LogBatch } from './batch.js';
import { type Entry, parseEvent, toEntry } from './entry.js';
import { LazyFold } from './lazy-fold.js';
import { DEFAULT_PAGE_BYTES, type LogListener, type LogOptions } from './log-options.js';
import { type ReadableLog, termAt } from './readable-log.js';
import { RetainedEvents } from './retention.js';
import { StoreRetry } from './store-retry.js';
import { unavailable } from './unavailable.js';

/** Messages kept in memory for turns and snapshots; older ones are read from the store. */
export const MESSAGES_IN_MEMORY = 1000;
const PAGE = { events: 1000, bytes: 1 << 20 };
/** Characters of events that wait for a store which can't be written; beyond that the log is given up. */
const MAX_HELD = 8 * 1024 * 1024;
/** How long it may stay unknown whether the store has a batch; after that the log is given up, and whoever opens it next finds out. */
const DOUBT_MS = 30_000;

/** The writer of one session's log: batches what an event-loop turn appended, folds what the store acknowledged, and only then lets it be seen. */
export class SessionLog implements ReadableLog {
  readonly ref: LogRef;
  readonly term: number;
  head: number;
  readonly terms: LogHead['terms'];
  /** Size of the messages of a snapshot or of a page of history, in bytes of JSON. */
  readonly pageBytes: number;
  readonly #fold: LazyFold;
  readonly #retained: RetainedEvents;
  readonly #store: Store;
  readonly #listener: LogListener;
  #groups: Group[] = [];
  #batch = 0;
  #scheduled = false;
  /** What the store has not answered yet. */
  #writing: Group | null = null;
  #broken: unknown = null;
  #dropped = 0;
  #fresh: EventRecord[] = [];
  /** The answer that deltas were committed of, as far as it is known. */
  #answering: Answering | null = null;
  #inDoubtSince: number | null = null;
  #closed = false;
  /** Runs that ended while events of theirs were on their way here. */
  readonly #over = new Set<string>();
  readonly #retry = new StoreRetry(() => this.#flush());

  private constructor(
    store: Store,
    ref: LogRef,
    head: LogHead,
    checkpoint: Checkpoint | null,
    options: LogOptions,
  ) {
    this.#store = store;
    this.#listener = options.listener;
    this.pageBytes = options.pageBytes ?? DEFAULT_PAGE_BYTES;
    this.ref = ref;
    this.term = head.term;
    this.terms = head.terms;
    const base = checkpoint ?? { seq: 0, state: initialState, messageCount: 0 };
    this.head = base.seq;
    this.#fold = new LazyFold(base.state);
    this.#retained = new RetainedEvents(this, store, {
      ...options,
      base,
      first: head.first,
      kept: (messageCount) => this.#forgetMessages(messageCount),
      failed: (error) => options.listener.unavailable(error),
    });
  }

  /** Place just before the `message_start` that came last, as far as it was read here. */
  lastStart: number | null = null;

  /** Opens an acquired log and folds it. */
  static open(
    store: Store,
    acquired: { readonly ref: LogRef; readonly head: LogHead; readonly checkpoint: Checkpoint | null },
    options: LogOptions,
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

  /** Lowest retained sequence number; `head + 1` when nothing is retained. */
  get first(): number {
    return this.#retained.first;
  }

  /** The fold just before `first`. */
  get base(): Checkpoint {
    return this.#retained.base;
  }

  get cursor(): string {
    return this.cursorAt(this.head);
  }

  cursorAt(seq: number): string {
    return formatCursor(this.ref.epoch, this.termAt(seq), seq);
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
    if (this.#broken || this.#closed) return size;
    const last = this.#groups.at(-1);
    if (last && !last.options && !last.inDoubt && Array.isArray(last.entries)) last.entries.push(entry);
    else this.#groups.push({ entries: [entry], options: null, waiter: null });
    this.#schedule();
    return size;
  }

  /** Appends events atomically, after all that came before, and resolves once they are acknowledged. */
  commit(drafts: Drafts, options: GroupOptions = {}): Promise<Committed> {
    return new Promise((resolve, reject) => {
      const entries = typeof drafts === 'function' ? drafts : drafts.map(toEntry);
      if (this.#broken) return reject(unavailable(this.#broken));
      if (this.#closed) return reject(new GatewayError({ code: 'SESSION_CLOSED' }));
      if (options.refusable && this.#retry.waiting) return reject(unavailable(this.#retry.error));
      this.#groups.push({ entries, options, waiter: { resolve, reject } });
      this.#schedule();
    });
  }

  /** Resolves when everything appended so far is acknowledged; resolves at once when nothing is pending. */
  settled(): MaybePromise<unknown> {
    return this.#groups.length === 0 && !this.#writing ? undefined : this.commit([], { refusable: true });
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
    this.#broken ??= new StoreError('UNKNOWN', 'The log was given up');
    if (this.#writing) this.#groups.unshift(this.#writing);
    this.#writing = null;
    this.#giveUp(this.#broken);
  }

  /** Waits until nothing of this log is on its way to the store, so that another writer can take over. */
  async quiesce(): Promise<void> {
    while (this.#groups.length > 0 || this.#writing || this.#retained.cutting) {
      await this.settled();
      await this.#retained.cutting;
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing || this.#retry.waiting) return;
    this.#scheduled = true;
    process.nextTick(this.#flush);
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    while (this.#groups.length > 0 && !this.#writing && !this.#broken && !this.#retry.pausing) {
      const group = this.#groups.shift()!;
      const entries = this.#entriesOf(group);
      if (!entries) continue;
      if (entries.length === 0) group.waiter?.resolve({ first: this.head + 1, last: this.head });
      else this.#write(group, entries);
    }
    if (this.#groups.length === 0 && !this.#writing) this.#over.clear();
    this.#deliver();
  };

  /** What of a group is still to be written, now that all before it is; null when that was refused. */
  #entriesOf({ entries, inDoubt, waiter }: Group): readonly Entry[] | null {
    if (inDoubt) return entries as readonly Entry[];
    if (this.#closed) {
      waiter?.reject(new GatewayError({ code: 'SESSION_CLOSED' }));
      return waiter ? null : [];
    }
    try {
      if (typeof entries === 'function') return entries(this.state).map(toEntry);
    } catch (error) {
      waiter?.reject(error);
      return null;
    }
    if (this.#over.size === 0) return entries;
    const kept = entries.filter(({ record }) => record.runId === undefined || !this.#over.has(record.runId));
    if (!waiter || kept.length === entries.length) return kept;
    waiter.reject(new GatewayError({ code: 'ALREADY_ANSWERED', message: 'The run has ended' }));
    return null;
  }

  #write(group: Group, entries: readonly Entry[]): void {
    const { dedupe, opens, close } = group.options ?? {};
    const ends = endsOf(group, entries);
    const options: AppendOptions = {
      term: this.term,
      batch: ++this.#batch,
      ...(dedupe && { dedupe }),
      ...(opens && { opens }),
      ...(ends && { ends }),
      ...(close && { close }),
    };
    const records = entries.map((entry) => entry.record);
    try {
      const result = this.#store.append(this.ref, records, options);
      if (!isPromise(result)) {
        this.#commit(group, entries, result, ends);
        return;
      }
      this.#writing = group;
      result.then(
        (value) => {
          // Too late: whoever waited was told.
          if (this.#broken) return;
          this.#writing = null;
          this.#commit(group, entries, value, ends);
          this.#flush();
        },
        (error: unknown) => {
          if (this.#broken) return;
          this.#writing = null;
          this.#fail(group, entries, error);
        },
      );
    } catch (error) {
      this.#fail(group, entries, error);
    }
  }

  #commit(
    group: Group,
    entries: readonly Entry[],
    result: Committed,
    ends: AppendOptions['ends'] | null,
  ): void {
    if (this.#retry.waiting) this.#retry.succeeded();
    this.#inDoubtSince = null;
    if (result.duplicate) this.#batch -= 1;
    else {
      let seq = result.first;
      for (const { record, event } of entries) {
        record.seq = seq++;
        record.term = this.term;
        this.#fold.add(event);
        this.#retained.added(record);
        this.#fresh.push(record);
      }
      this.head = result.last;
      const { close = false, acknowledged } = group.options ?? {};
      for (const { runId } of ends ?? []) this.#over.add(runId);
      this.#closed = close;
      acknowledged?.();
    }
    group.waiter?.resolve(result);
  }

  #fail(group: Group, entries: readonly Entry[], error: unknown): void {
    const code = error instanceof StoreError ? error.code : null;
    if (code === 'UNKNOWN') {
      this.#inDoubtSince ??= performance.now();
      group.inDoubt = true;
      group.entries = [...entries];
    }
    const doubtful = group.inDoubt === true;
    const groups = [group, ...this.#groups];
    const isKept = (other: Group): boolean => !other.options?.refusable || (other === group && doubtful);
    const kept = groups.filter(isKept);
    const patient = !doubtful || performance.now() - this.#inDoubtSince! < DOUBT_MS;
    if ((code === 'UNAVAILABLE' || code === 'UNKNOWN') && patient && sizeOf(kept) <= MAX_HELD) {
      this.#batch -= 1;
      this.#groups = kept;
      if (kept.length > 0) {
        if (!this.#retry.waiting) this.#listener.unavailable(error);
        this.#retry.failed(error);
      } else this.#retry.succeeded();
      this.#deliver();
      const refused = unavailable(code === 'UNKNOWN' ? new StoreError('UNAVAILABLE', 'Not tried') : error);
      for (const other of groups) if (!isKept(other)) other.waiter?.reject(refused);
      return;
    }
    this.#broken = error;
    this.#deliver();
    this.#groups = groups;
    this.#giveUp(doubtful ? new StoreError('UNKNOWN', 'The store never said', { cause: error }) : error);
    this.#listener.broken(error);
  }

  /** Tells everybody who waits that it was not stored. */
  #giveUp(error: unknown): void {
    const groups = this.#groups;
    this.#groups = [];
    this.#retry.succeeded();
    const failure = unavailable(error);
    for (const { waiter } of groups) waiter?.reject(failure);
  }

  #deliver(): void {
    if (this.#fresh.length === 0) return;
    const batch = new LogBatch(this.ref.epoch, this.#fresh, this.#answering);
    if (batch.tells !== undefined) this.#answering = batch.tells;
    this.#fresh = [];
    this.#listener.committed(batch);
    void this.#retained.trim();
  }

  /** Cuts what has become too old. */
  expire(): MaybePromise<void> {
    return this.#broken ? undefined : this.#retained.expire();
  }

  /** What is now in rows may leave memory. */
  #forgetMessages(kept: number): void {
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
        this.#retained.added(record);
        this.head = record.seq;
        if (record.type === 'message_start') this.lastStart = record.seq - 1;
      }
      return page.length === 0 ? undefined : this.#catchUp(head);
    });
  }
}
