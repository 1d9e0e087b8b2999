import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { mapPacked } from '../../shared/map-packed.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { Arrivals } from '../stores/about.js';
import { type EventRecord, StoreError } from '../stores/append.js';
import { place } from '../stores/placed.js';
import type { Store } from '../stores/store.js';
import type { LogRef } from '../stores/stored.js';
import {
  appendOptionsOf,
  type Committed,
  changesMore,
  type Drafts,
  entriesToWrite,
  type Group,
  type GroupOptions,
  type NamedRuns,
  runsOf,
  sizeOf,
  type WrittenGroup,
} from './append-group.js';
import { LogBatch } from './batch.js';
import { Consequences } from './consequences.js';
import { type Entry, recordOf, toEntry } from './entry.js';
import { Flow } from './flow.js';
import { flushSoon } from './flushes.js';
import { GatheredPieces } from './gathered-pieces.js';
import type { Delta } from './joined-delta.js';
import type { LogListener, LogOptions } from './log-options.js';
import type { LogView } from './log-view.js';
import type { OpenAnswer } from './open-answer.js';
import { LogCutter } from './retention.js';
import { givenUp, notTried, unavailable } from './unavailable.js';

/** Characters of events that may wait for a store that can't be written. Beyond that the log is given up. */
const MAX_HELD = 8 * 1024 * 1024;

/**
 * The writer of one session's log, while it is held. Batches the events of one turn of the event loop, and passes them to the view once the
 * store has acknowledged them. Readers see nothing earlier.
 */
export class LogWriter {
  readonly view: LogView;
  readonly term: number;
  readonly cutter: LogCutter;
  readonly #store: Store;
  readonly #listener: LogListener;
  readonly #consequences: Consequences;
  #groups: Group[] = [];
  readonly #gathering: GatheredPieces;
  #batch = 0;
  #scheduled = false;
  /** The group that the store has not answered yet. */
  #writing: Group | null = null;
  #fresh: readonly EventRecord[] = [];
  /** The answer to which the last committed deltas belong, if known. */
  #answering: OpenAnswer | null = null;
  /** Runs that ended while their last events were on the way here. */
  #over: Set<string> | null = null;
  readonly #flow = new Flow(() => this.#flush());

  private constructor(store: Store, view: LogView, term: number, options: LogOptions) {
    this.#store = store;
    this.#listener = options.listener;
    this.#gathering = new GatheredPieces(options.moderation, {
      begun: (entries) => this.#groups.push({ entries, options: null, waiter: null }),
      ripe: () => {
        if (!this.#writing) this.#flush();
      },
    });
    this.#consequences = new Consequences(view, store, options);
    this.view = view;
    this.term = term;
    this.cutter = new LogCutter(view, store, {
      term,
      failed: (error) => options.listener.unavailable(error),
      ...options,
    });
  }

  /** Opens an acquired log for writing under a term. The view must stand at the head of that moment. */
  static open(store: Store, view: LogView, term: number, options: LogOptions): MaybePromise<LogWriter> {
    return andThen(view.folded(), () => new LogWriter(store, view, term, options));
  }

  get ref(): LogRef {
    return this.view.ref;
  }

  /** The fold of acknowledged events. */
  get state(): SessionState {
    return this.view.state;
  }

  /** The arrivals including the events being written. Read it while their records are made, or as they are acknowledged. */
  get arrivals(): Arrivals {
    return this.#consequences.arrivals;
  }

  /** Identity of the present group of entries: the same object for each event that is written in it; null before the first. */
  get gathering(): object | null {
    return this.#gathering.entries;
  }

  /**
   * Appends one event with the others of this event-loop turn and returns the size of its body. The listener hears of a lost log.
   *
   * @throws TypeError if the event is not JSON.
   */
  append(draft: EventDraft): number {
    const entry = toEntry(draft);
    const size = entry.record.body.length;
    if (!this.#flow.takes) return size;
    this.#gathering.add(entry);
    this.#schedule();
    return size;
  }

  /**
   * Appends a piece of an answer. The pieces of one block that come in one turn of the event loop become one event, and while the
   * process is full those of the next ones, at most as long as `moderation` says. Any other append takes the waiting pieces along.
   */
  gather(piece: Delta): void {
    if (!this.#gathering.joins) this.append(piece);
    else if (this.#flow.takes && this.#gathering.join(piece, !this.#scheduled)) this.#schedule();
  }

  /** Appends events atomically behind everything earlier, and resolves once they are acknowledged. */
  commit(drafts: Drafts, options: GroupOptions = {}): Promise<Committed> {
    return new Promise((resolve, reject) => {
      const entries = typeof drafts === 'function' ? drafts : mapPacked(drafts, toEntry);
      const refusal = this.#flow.refusal(options.refusable);
      if (refusal) return reject(refusal);
      this.#gathering.seal();
      this.#groups.push({ entries, options, waiter: { resolve, reject } });
      this.#schedule();
    });
  }

  /** Resolves when everything appended so far is acknowledged. Returns at once if nothing is pending. */
  settled(): MaybePromise<unknown> {
    return this.pending ? this.commit([], { refusable: true }) : undefined;
  }

  /** Whether any appended event is not acknowledged yet. */
  get pending(): boolean {
    return this.#groups.length > 0 || this.#writing !== null;
  }

  /** Whether appended events wait for a store that can't be written. */
  get stalled(): boolean {
    return this.#flow.waits;
  }

  /** Resolves once the store takes writes again, or the log is given up. */
  flowing(): Promise<void> {
    return this.#flow.over();
  }

  /** Gives up events that could not be stored, and refuses any more. The writer of a closed log refuses them by itself. */
  abandon(): void {
    if (!this.#flow.takes) return;
    const error = givenUp();
    this.#flow.break(error);
    if (this.#writing) this.#groups.unshift(this.#writing);
    this.#writing = null;
    this.#giveUp(error);
  }

  /** Waits until nothing of this log is on its way to the store, so that another writer can take over. */
  async quiesce(): Promise<void> {
    while (this.#groups.length > 0 || this.#writing || this.cutter.cutting) {
      await this.settled();
      await this.cutter.cutting;
    }
  }

  /** Schedules a flush at the end of this turn of the event loop, for gathered pieces too. */
  #schedule(): void {
    this.#gathering.hasten();
    if (this.#scheduled || this.#writing || this.#flow.waits) return;
    this.#scheduled = true;
    flushSoon(this.#flush);
  }

  /** Writes what comes next, once the store may be asked. A group that needs no write is settled in any stage. */
  readonly #flush = (): void => {
    this.#scheduled = false;
    let isPausing = false;
    while (!this.#writing && !this.#flow.broken && !isPausing) {
      const group = this.#next();
      if (!group) break;
      const entries = entriesToWrite(group, this.view, this.#flow.closed, this.#over);
      if (!entries) continue;
      if (entries.length === 0 && !changesMore(group.options))
        group.waiter?.resolve({ first: this.view.head + 1, last: this.view.head });
      else if (this.#flow.pauses) {
        isPausing = true;
        this.#groups.unshift(group);
      } else this.#write(group, entries);
    }
    if (this.#groups.length === 0 && !this.#writing) this.#over = null;
    if (!this.#writing && !isPausing) this.#flow.resume();
    this.#deliver();
  };

  /** Takes the next group to write. The last one stays while it waits for more pieces. */
  #next(): Group | undefined {
    const { waits } = this.#gathering;
    if (!waits) this.#gathering.seal();
    return this.#groups.length > (waits ? 1 : 0) ? this.#groups.shift() : undefined;
  }

  #write(group: Group, entries: readonly Entry[]): void {
    const caused = this.#consequences.of(entries, group.options);
    const options = appendOptionsOf(group, entries, caused, { term: this.term, batch: ++this.#batch });
    const records = mapPacked(entries, recordOf);
    try {
      const result = this.#store.append(this.view.ref, records, options);
      if (!isPromise(result)) {
        this.#commit(group, { entries, records, options }, result);
        return;
      }
      this.#writing = group;
      result.then(
        (value) => {
          // Too late: the waiting callers were told of the loss.
          if (this.#flow.broken) return;
          this.#writing = null;
          this.#commit(group, { entries, records, options }, value);
          this.#flush();
        },
        (error: unknown) => {
          if (this.#flow.broken) return;
          this.#writing = null;
          this.#fail(group, entries, error);
          this.#flush();
        },
      );
    } catch (error) {
      this.#fail(group, entries, error);
    }
  }

  #commit(group: Group, { entries, records, options }: WrittenGroup, result: Committed): void {
    this.#flow.resume();
    const isWritten = !(result.duplicate || result.stale);
    if (!isWritten) {
      this.#batch -= 1;
      this.#consequences.answered(entries, records, false);
    } else {
      place(records, result.first, this.term);
      this.#consequences.answered(entries, records, true);
      this.#fresh = this.#fresh.length === 0 ? records : this.#fresh.concat(records);
      if (options.activity) this.view.become(options.activity);
      if (group.options) this.#settle(group.options, options.ends);
    }
    group.waiter?.resolve(result);
  }

  #settle({ close = false, acknowledged }: GroupOptions, ends?: NamedRuns): void {
    if (ends) this.#over = new Set([...(this.#over ?? []), ...ends.map(({ runId }) => runId)]);
    if (close) this.#flow.close();
    acknowledged?.();
  }

  #fail(group: Group, entries: readonly Entry[], error: unknown): void {
    const code = error instanceof StoreError ? error.code : null;
    if (code === 'REFUSED') return this.#reject(group, entries, error);
    if (code === 'UNKNOWN' || code === 'UNAVAILABLE') this.#listener.refused();
    // A later refusal does not say what became of the first try, so a group in doubt is sent again unchanged.
    const doubtful = code === 'UNKNOWN' || this.#flow.doubts(group);
    if (doubtful) group.sent = entries;
    const groups = [group, ...this.#groups];
    const isKept = (other: Group): boolean => !other.options?.refusable || (other === group && doubtful);
    const kept = groups.filter(isKept);
    // However long the store is away: once it answers, the term says whether another gateway took the session meanwhile.
    if ((code === 'UNAVAILABLE' || code === 'UNKNOWN') && sizeOf(kept) <= MAX_HELD) {
      this.#batch -= 1;
      this.#groups = kept;
      if (!this.#flow.waits && kept.length > 0) this.#listener.unavailable(error);
      this.#flow.waitFor(error, doubtful ? group : null);
      this.#deliver();
      const refused = notTried(error);
      for (const other of groups) if (!isKept(other)) other.waiter?.reject(refused);
      return;
    }
    this.#flow.break(error);
    this.#deliver();
    this.#groups = groups;
    this.#giveUp(
      doubtful
        ? new StoreError(
            'UNKNOWN',
            'The store did not say whether it has the events, and no more of them can be kept for it',
            {
              cause: error,
            },
          )
        : error,
    );
    this.#listener.broken(this.term, error);
  }

  /** Takes a plainer form of a group that the store can never keep, or gives it up, and with it the runs that said it. The log goes on. */
  #reject(group: Group, entries: readonly Entry[], error: unknown): void {
    const { options, waiter, refused = 0 } = group;
    this.#batch -= 1;
    this.#flow.resume();
    if (refused < (options?.forms ?? 0)) {
      Object.assign(group, { refused: refused + 1, sent: null });
      // Later groups go by the state after it.
      this.#groups.unshift(group);
      return this.#listener.rejected([], error);
    }
    waiter?.reject(unavailable(error));
    const runs = options?.refusable ? [] : runsOf(entries);
    this.#settle({}, runs);
    this.#listener.rejected(new Set(runs.map(({ runId }) => runId)), error);
    this.#schedule();
  }

  /** Tells all waiting callers that their events were not stored. */
  #giveUp(error: unknown): void {
    this.view.settleCut = null;
    this.#gathering.hasten();
    this.#gathering.seal();
    const groups = this.#groups;
    this.#groups = [];
    const failure = unavailable(error);
    for (const { waiter } of groups) waiter?.reject(failure);
  }

  #deliver(): void {
    if (this.#fresh.length === 0) return;
    const batch = new LogBatch(this.ref.epoch, this.#fresh, this.#answering);
    if (batch.tells !== undefined) this.#answering = batch.tells;
    this.#fresh = [];
    this.#listener.committed(batch);
    this.cutter.grown(batch.events.length, batch.chars);
  }

  /** Cuts events that have become too old. */
  async expire(): Promise<void> {
    if (!this.#flow.broken) await this.cutter.expire();
  }
}
