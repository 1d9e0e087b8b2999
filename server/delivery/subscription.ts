import type { SubscriptionInfo } from '../../shared/events.js';
import { initialState } from '../../shared/fold.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { LogFacts } from '../diagnostics/log-facts.js';
import { Lens } from '../grants/lens.js';
import type { View } from '../grants/view.js';
import type { LogBatch } from '../log/batch.js';
import { answeringAfter, type OpenAnswer } from '../log/open-answer.js';
import type { ReadableLog } from '../log/readable-log.js';
import type { StoredEvent } from '../stores/stored.js';
import { writeGap, writeSnapshot } from './announcement.js';
import type { Outlet } from './outlet.js';
import { room, sharedPage, spend } from './pages.js';
import { type AwaitedRun, RunFilter } from './run-filter.js';
import { cursorAt, type ReaderStart, resolveStart, type StartRequest, type StartSource } from './start.js';

/** The session a subscription follows. */
export interface Subscribable extends StartSource {
  /** Number of times that a log was opened. If unchanged, no new log has begun. */
  readonly openings: number;
  /** The conversation after an epoch's, or the first one that is kept; `gone` if the epoch's is not kept any more. */
  nextLog(after: string | null): MaybePromise<ReadableLog | 'gone' | null>;
  /** Key of the session, as the reader names it. */
  readonly id: string;
  /** The fields of the session for log lines. */
  readonly facts?: LogFacts;
  /** The part of the session that is shown; absent for all of it. */
  readonly view?: View;
  attach(subscription: Subscription): void;
  /** @param left Whether the receiver went away, rather than had everything it wanted. */
  detach(subscription: Subscription, left: boolean): void;
  describe(): Pick<SubscriptionInfo, 'status' | 'runId' | 'queued'>;
}

/** The state of a subscription. */
type State =
  /** The starting place is being resolved. */
  | { readonly is: 'opening' }
  /** The starting place is known. Nothing is sent before `begin`. */
  | { readonly is: 'ready'; readonly start: ReaderStart }
  /** A gap and a snapshot go first, as soon as the outlet takes them. Without the start, they are being written. */
  | { readonly is: 'announcing'; readonly start: ReaderStart | null }
  /** Sends events as they come. */
  | { readonly is: 'live' }
  /** Waits for the store, and is live again after its answer. */
  | { readonly is: 'reading' }
  | { readonly is: 'closed' };

const OPENING: State = { is: 'opening' };
const ANNOUNCING: State = { is: 'announcing', start: null };
const LIVE: State = { is: 'live' };
const READING: State = { is: 'reading' };
const CLOSED: State = { is: 'closed' };

/**
 * One subscriber of one session: a cursor over the shared log. A wake carries no data, so a lost or repeated one can neither lose nor
 * repeat an event. While the outlet is blocked, the subscription holds only its place.
 */
export class Subscription {
  readonly session: Subscribable;
  readonly #outlet: Outlet;
  readonly #filter: RunFilter | null;
  readonly #lens: Lens | null;
  #state = OPENING;
  #log: ReadableLog | null = null;
  #after = 0;
  /** The answer that the receiver knows of. */
  #known: OpenAnswer | null = null;
  /** Value of `openings` at which no log followed the present one. */
  #followed = -1;
  /** Whether the failure to read the log was reported. */
  #unreadable = false;

  /** @param run The run to follow, instead of the whole session. */
  constructor(session: Subscribable, outlet: Outlet, run: AwaitedRun | null = null) {
    this.session = session;
    this.#outlet = outlet;
    this.#filter = run && new RunFilter(run, () => this.pump());
    this.#lens = session.view ? new Lens(session.view, run === null) : null;
  }

  /** `closed` is final. */
  #become(state: State): void {
    if (this.#state !== CLOSED) this.#state = state;
  }

  /** Registers for wakes, then finds the starting place. Sends nothing before `begin`. */
  async open(request: StartRequest): Promise<SubscriptionInfo> {
    this.session.attach(this);
    const start = await resolveStart(this.session, request);
    this.#standAt(start);
    this.#become({ is: 'ready', start });
    const { log } = start;
    const cursor = cursorAt(log, start.after);
    const info = {
      epoch: log?.ref.epoch ?? null,
      first: log?.first ?? 1,
      head: log?.head ?? 0,
      resume: start.resume,
      next: start.after + 1,
      ...(cursor !== null && { cursor }),
    };
    return { ...info, ...this.session.describe() };
  }

  /** Sends the gap or snapshot of the start and then every event, as the outlet takes them. */
  begin(): void {
    if (this.#state.is === 'ready') this.#go(this.#state.start);
    this.pump();
  }

  #standAt({ log, after }: Pick<ReaderStart, 'log' | 'after'>): void {
    this.#log = log;
    this.#after = after;
    this.#known = null;
    this.#lens?.reset();
  }

  /** Continues from a start. Waits until the outlet takes its snapshot, or a client that never reads could pile snapshots up. */
  #go(start: ReaderStart): void {
    this.#become(start.snapshot ? { is: 'announcing', start } : LIVE);
  }

  /**
   * Place from which the client would resume. Null before the session's first event, and until a pending snapshot was sent: a client that
   * is cut off earlier must not resume behind the snapshot.
   */
  get cursor(): string | null {
    // Hidden events are accounted for with the next visible one.
    return this.announcing ? null : cursorAt(this.#log, this.#after - (this.#lens?.pending ?? 0));
  }

  /** Whether the place is not settled yet. */
  get announcing(): boolean {
    const state = this.#state;
    if (state.is === 'ready') return state.start.snapshot !== undefined;
    return state.is === 'opening' || state.is === 'announcing';
  }

  /** Whether every event was sent. */
  get caughtUp(): boolean {
    const isToStart = 'start' in this.#state && this.#state.start !== null;
    return !isToStart && this.#after >= (this.#log?.head ?? 0);
  }

  /** Called when this process lost the session's log. */
  interrupt(): void {
    this.close();
    this.#outlet.interrupt();
  }

  /** @param left Whether the receiver went away, rather than had everything it wanted. */
  close(left = true): void {
    if (this.#state === CLOSED) return;
    this.#become(CLOSED);
    this.session.detach(this, left);
  }

  /** Sends pending events. `batch` is the batch just committed, if that is the reason. Never throws, because all kinds of code call it. */
  pump(batch?: LogBatch): void {
    try {
      this.#pump(batch);
    } catch (error) {
      this.#break(error);
    }
  }

  /** Ends this connection, and nothing else, after an unexpected error. */
  #break(error: unknown): void {
    this.#outlet.report(error, `following session ${this.session.id}`, this.session.facts);
    this.interrupt();
  }

  #pump(batch?: LogBatch): void {
    while (this.#outlet.writable) {
      const state = this.#state;
      if (state.is === 'announcing' && state.start) this.#announce(state.start);
      else if (state.is !== 'live' || !this.#advance(batch)) return;
    }
  }

  /** Sends the next events. Returns whether there may be more to do. */
  #advance(batch?: LogBatch): boolean {
    const log = this.#log;
    if (log?.isReplaced) return this.#restart();
    if (!log || this.#after >= log.head) {
      if (!this.#filter) return this.#follow();
      if (this.#filter.isBehind(log, this.#after)) this.#finish(this.#filter);
      else if (this.#filter.isUnknown) this.interrupt();
      return false;
    }
    if (batch?.first !== this.#after + 1 || batch.epoch !== log.ref.epoch) return this.#page(log);
    this.#pass(batch, log);
    return true;
  }

  /** Sends a batch. The reader gets the shared payload unless it needs another one. */
  #pass(batch: LogBatch, log: ReadableLog): void {
    this.#after = batch.last;
    const isWhole = this.#filter?.isWhole(batch) ?? true;
    if (isWhole && !this.#lens && (!batch.needs || batch.needs === this.#known)) {
      this.#outlet.write(batch.payload(this.#outlet.form, this.session.id), batch.events.length);
      this.#checkEnd(batch.events);
    } else this.#send(batch.events, log);
    if (isWhole && !this.#lens && batch.tells !== undefined) this.#known = batch.tells;
  }

  /** Moves on to the next conversation at the end of one, if there is one. */
  #follow(): boolean {
    const { log, openings } = this.session;
    const epoch = this.#log?.ref.epoch ?? null;
    if (openings === this.#followed || (log && log.ref.epoch === epoch)) return false;
    return this.#read(
      () => this.session.nextLog(epoch),
      (found) => {
        if (found === 'gone') return this.#restart();
        if (found) this.#enter(found);
        else this.#followed = openings;
        // The session may have begun while it was looked for, with a wake that found this subscriber busy.
        return found !== null || this.session.openings !== openings;
      },
    );
  }

  #enter(log: ReadableLog): void {
    const reopened = this.#log !== null;
    this.#standAt({ log, after: 0 });
    if (!reopened) return this.#outlet.moved();
    const gap = { reason: 'epoch', requested: null } as const;
    this.#announce({ gap, snapshot: { ...initialState, cursor: cursorAt(log, 0) } });
  }

  #page(log: ReadableLog): boolean {
    return this.#read(
      () => {
        const read = () => sharedPage(log, this.#after, this.#known);
        return room()?.then(read) ?? read();
      },
      (page) => this.#take(page, log),
    );
  }

  /**
   * Reads and continues, at once or later; false if it may not continue now. An unreadable store or a damaged page ends nothing: the place
   * is kept and the sweep reads again.
   */
  #read<T>(read: () => MaybePromise<T>, take: (value: T) => boolean): boolean {
    const failed = (error: unknown): void => {
      this.#become(LIVE);
      if (!this.#unreadable)
        this.#outlet.report(error, `reading session ${this.session.id}`, this.session.facts);
      this.#unreadable = true;
    };
    let value: MaybePromise<T>;
    try {
      value = read();
    } catch (error) {
      failed(error);
      return false;
    }
    if (!isPromise(value)) {
      this.#unreadable = false;
      return take(value);
    }
    this.#become(READING);
    value.then((late) => {
      this.#become(LIVE);
      this.#unreadable = false;
      // Meanwhile the place may belong to another subscription, or the receiver lag behind. A drain reads again.
      if (this.#state !== LIVE || !this.#outlet.writable) return;
      try {
        if (take(late)) this.#pump();
      } catch (error) {
        this.#break(error);
      }
    }, failed);
    return false;
  }

  #take(page: LogBatch | null, log: ReadableLog): boolean {
    // An empty page means that all later events were cut. Events of a replaced log are not passed on.
    if (log.isReplaced || page?.first !== this.#after + 1) return this.#restart();
    spend(page.chars);
    this.#pass(page, log);
    return true;
  }

  /** The next events were cut while this subscriber lagged behind. Announces the gap and continues from retained events. */
  #restart(): boolean {
    const cursor = cursorAt(this.#log, this.#after) ?? '';
    return this.#read(
      () => resolveStart(this.session, { cursor }),
      (found) => {
        this.#standAt(found);
        this.#go(found);
        // Nothing was cut after all, and reading again at once would give the same. The sweep pumps again.
        return found.resume !== 'exact';
      },
    );
  }

  #send(events: readonly StoredEvent[], log: ReadableLog): void {
    const ofRun = this.#filter ? this.#filter.of(events) : events;
    const wanted = this.#lens ? this.#lens.of(ofRun) : ofRun;
    if (wanted.length === 0) return;
    const origin = { sessionId: this.session.id, epoch: log.ref.epoch };
    this.#outlet.write(this.#outlet.form.events(wanted, origin, this.#known), wanted.length);
    for (const event of wanted) this.#known = answeringAfter(event, this.#known);
    this.#checkEnd(wanted);
  }

  #checkEnd(events: readonly StoredEvent[]): void {
    if (this.#filter?.endsIn(events)) this.#finish(this.#filter);
  }

  #finish(filter: RunFilter): void {
    this.close(false);
    filter.ended();
  }

  /** Sends a gap and its snapshot with nothing in between. */
  #announce({ gap, snapshot }: Pick<ReaderStart, 'gap' | 'snapshot'>): void {
    const place = { session: this.session, log: this.#log, after: this.#after };
    this.#become(ANNOUNCING);
    if (gap) writeGap(this.#outlet, place, gap);
    this.#become(LIVE);
    if (snapshot) writeSnapshot(this.#outlet, place, snapshot);
  }
}
