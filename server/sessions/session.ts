import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import type { RunResult } from '../../shared/operation-types.js';
import { within } from '../async/deadline.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { Cluster } from '../cluster/cluster.js';
import { errand } from '../cluster/errands.js';
import { HeldElsewhere } from '../cluster/held-elsewhere.js';
import type { Subscribable, Subscription } from '../delivery/subscription.js';
import { newEpoch } from '../ids.js';
import { LimitError } from '../limit-error.js';
import type { LogBatch } from '../log/batch.js';
import { healMs } from '../log/heal.js';
import type { LogListener } from '../log/log-options.js';
import { LogView } from '../log/log-view.js';
import { LogWriter } from '../log/log-writer.js';
import { openLastLog, openNextLog, openPastLog } from '../log/past-log.js';
import type { ReadableLog } from '../log/readable-log.js';
import { asUnavailable } from '../log/unavailable.js';
import {
  type Acquired,
  IDLE,
  type LogHead,
  type NewSession,
  type SessionRef,
  type Store,
  StoreError,
} from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { tellFirst } from './fork.js';
import { Publisher } from './publisher.js';
import { recover, recoverToEnd } from './recovery.js';
import { perform } from './routing.js';
import { LeftRuns } from './run-record.js';
import { RunResults } from './run-results.js';
import { SessionCalls } from './session-calls.js';
import { SessionRuns } from './session-runs.js';
import { type Desertion, Viewers } from './viewers.js';

/** How soon a log is taken up again that was lost with its store, and runs are looked for again that could not be read, in milliseconds. */
const RETAKE_MS = { first: 1000, longest: 30_000 };

/** Whether somebody at another gateway follows a session, or waits there for its run. */
export const VIEWED = errand<SessionRef, { readonly watching: boolean; readonly any: boolean }>('viewed');

/** Why a session was closed that was deleted. */
export const DELETED = 'deleted';

/** By whom a session is begun where there is none, and with what. */
export interface Beginning extends Omit<NewSession, 'epoch' | 'userId'> {
  readonly userId: string | undefined;
  /** The run that is about to be accepted. */
  readonly runId?: string;
  /** It has begun. */
  readonly begun?: () => void;
}

/** How a session is taken that is there. */
export interface Taking {
  /** A dead holder that it may be taken from. */
  readonly from?: string | undefined;
  /** It is taken only to be deleted: what was left in it is not begun again. @default false */
  readonly toEnd?: boolean | undefined;
}

/**
 * One live session: what is seen of its log here, its writer and its runs while it is held here, and who follows it. Outlives a close:
 * the next send begins a new log.
 */
export class Session implements Subscribable, LogListener {
  readonly ref: SessionRef;
  readonly id: string;
  readonly runs: SessionRuns;
  readonly publisher: Publisher;
  readonly viewers: Viewers;
  readonly results = new RunResults();
  #calls: SessionCalls | null = null;
  /** The present log, as far as it was looked at. */
  log: LogView | null = null;
  /** Its writer, while the session is held here. */
  writer: LogWriter | null = null;
  /** Whether its writer was lost since it was last held here. */
  isLost = false;
  openings = 0;
  /** Epoch of the conversation that was seen last. */
  #seenLast: string | undefined;
  /** Epoch of what it left here when it was deleted. */
  #notice: string | undefined;
  /** When it was last used, for eviction; monotonic milliseconds. */
  usedAt = performance.now();
  readonly #env: SessionEnvironment;
  #holding: Promise<LogWriter | null> | null = null;
  /** Stops hearing what others write. */
  #unwatch: (() => void) | null = null;
  /** Whether it is about to look at what others wrote. */
  #heardOf = false;
  #closing: Promise<void> | null = null;
  /** Since when the store has lacked what was written here; monotonic milliseconds. */
  #lackingSince: number | null = null;
  /** Its gateway is ending. */
  #abandoned = false;
  /** Reads again what could not be read. */
  #learning: NodeJS.Timeout | null = null;

  constructor(ref: SessionRef, env: SessionEnvironment) {
    this.ref = ref;
    this.#env = env;
    this.id = env.format(ref.app, ref.name);
    this.runs = new SessionRuns(this, env);
    this.publisher = new Publisher(this, env);
    this.viewers = new Viewers({ deserted: () => this.#deserted(), changed: () => this.#viewersChanged() });
  }

  /** Its tool calls outside of runs. */
  get calls(): SessionCalls {
    this.#calls ??= new SessionCalls(this, this.#env);
    return this.#calls;
  }

  /** The other gateways on the same store, where there may be others. */
  get cluster(): Cluster | null {
    return this.#env.cluster;
  }

  /** Whether somebody follows its events, here or at another gateway. */
  watched(): MaybePromise<boolean> {
    const { watching } = this.viewers;
    return watching || !this.cluster ? watching : this.#seenElsewhere('watching');
  }

  /** Whether other gateways say that somebody is there; also where one of them did not answer. */
  async #seenElsewhere(how: 'watching' | 'any'): Promise<boolean> {
    const { shared } = this.#env.store;
    // Who holds it does not follow it, and all others do that have viewers.
    if (this.writer && (await asUnavailable(() => shared!.followers(this.ref))) === 0) return false;
    const seen = await this.cluster!.errands.askAll(VIEWED, this.ref);
    return seen.some((at) => at === undefined || at[how]);
  }

  get store(): Store {
    return this.#env.store;
  }

  /** Whether a close is in progress. */
  get closing(): boolean {
    return this.#closing !== null;
  }

  get idle(): boolean {
    const used = this.viewers.any || this.results.size > 0 || this.runs.busy || (this.#calls?.busy ?? false);
    return !used && !this.#holding && !this.#closing;
  }

  get runStart(): number | null {
    return this.log?.activity.start ?? null;
  }

  describe(): Pick<SubscriptionInfo, 'status' | 'runId' | 'queued'> {
    const { status, runId, queued } = this.log?.activity ?? IDLE;
    return { status, ...(runId !== undefined && { runId }), queued };
  }

  attach(subscription: Subscription): void {
    this.viewers.attach(subscription);
  }

  detach(subscription: Subscription, left: boolean): void {
    this.viewers.detach(subscription, left);
  }

  #viewersChanged(): void {
    this.usedAt = performance.now();
    this.#watch();
    if (!this.viewers.any && !this.log) this.#env.unused(this.ref);
  }

  /** The active run goes on without viewers, unless the app or the gateway asked otherwise. */
  #deserted(): Desertion | null {
    const { active } = this.runs;
    const { onDisconnect = this.#env.onDisconnect } = this.#env.app(this.ref.app);
    if (onDisconnect !== 'abort') return null;
    if (!active) {
      if (!this.writer && this.log?.activity.runId !== undefined) void this.#tellDeserted();
      return null;
    }
    const ending = { stopReason: 'aborted', reason: 'disconnected' } as const;
    const end = (): void => void this.runs.end(active, ending);
    const { cluster } = this;
    return { afterMs: this.#env.disconnectGraceMs, end: cluster ? () => void this.#endUnseen(end) : end };
  }

  async #endUnseen(end: () => void): Promise<void> {
    try {
      if (!(await this.#seenElsewhere('any')) && !this.viewers.any) end();
    } catch (error) {
      this.#report(error, `looking who follows session ${this.id}`);
    }
  }

  /** Tells the gateway where its run is that the last viewer left here. */
  async #tellDeserted(): Promise<void> {
    try {
      await perform(this, { type: 'deserted' });
    } catch (error) {
      if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return;
      this.#report(error, `telling that nobody follows session ${this.id}`);
    }
  }

  pastLog(epoch: string): Promise<ReadableLog | null> {
    return openPastLog(this.#env.store, this.ref, epoch);
  }

  lastLog(): Promise<ReadableLog | null> {
    return openLastLog(this.#env.store, this.ref);
  }

  nextLog(after: string | null): MaybePromise<ReadableLog | 'gone' | null> {
    return openNextLog(this.#env.store, this.ref, { after, present: this.log });
  }

  /** Looks at the present log, which that takes from nobody; null when there is none. */
  look(): MaybePromise<LogView | null> {
    this.usedAt = performance.now();
    // What only looks must not wait for a close that runs.
    if (this.#closing) return null;
    if (this.writer) return this.log;
    // Whether it could be taken is nothing to those who only look.
    const again = (): MaybePromise<LogView | null> => this.look();
    if (this.#holding) return this.#holding.then(again, again);
    const { store } = this.#env;
    return asUnavailable(() =>
      andThen(store.head(this.ref), (head) => andThen(this.#settle(head), () => this.#seen(head))),
    );
  }

  /** Shows those who still read the log that was present how it ended. */
  #settle(present: LogHead | null): MaybePromise<void> {
    const { log } = this;
    if (this.writer || !log || (present?.epoch === log.ref.epoch && !present.closed)) return;
    return andThen(this.#env.store.head(this.ref, log.ref.epoch), (head) => {
      if (head && !this.#overtaken) log.update(head);
    });
  }

  /** Whether it was taken or closed here while the store was asked where it stands. */
  get #overtaken(): boolean {
    return this.writer !== null || this.#holding !== null || this.#closing !== null;
  }

  #seen(head: LogHead | null): MaybePromise<LogView | null> {
    if (this.#overtaken) return this.look();
    if (!head || head.closed) {
      this.log = null;
      // It took the place of what was there, or nothing did: those who followed that are led to it, or told.
      const isOther = this.#seenLast !== undefined && head?.epoch !== this.#seenLast;
      // Of what was dropped here they have read the end.
      if (isOther && (head || this.#seenLast !== this.#notice)) this.openings += 1;
      this.#seenLast = head?.epoch;
      return null;
    }
    const { log } = this;
    const view = this.#viewOf(head);
    return andThen(view.settleActivity(), () => {
      // Who follows the session reads by the view that another look has shown meanwhile.
      if (this.#overtaken || this.log !== log) return this.look();
      this.#show(view);
      return view;
    });
  }

  /** The view of a log that stands at a head: the one that is there, where it is of that. */
  #viewOf(head: LogHead): LogView {
    const { epoch } = head;
    if (this.log?.ref.epoch === epoch) {
      this.log.update(head);
      if (!this.log.isReplaced) return this.log;
    }
    const { scope, app, name } = this.ref;
    return new LogView(this.#env.store, { scope, app, name, epoch }, head, this.#env.pageBytes);
  }

  #show(view: LogView): void {
    if (this.log === view) return;
    this.log = view;
    this.#seenLast = view.ref.epoch;
    this.openings += 1;
    this.#env.opened(this.ref);
  }

  /** Hears of what others write, while somebody follows the session or waits for a run and it is not held here. */
  #watch(): void {
    const wanted = (this.viewers.watching || this.results.size > 0) && !this.writer;
    if (wanted === (this.#unwatch !== null)) return;
    this.#unwatch?.();
    this.#unwatch = wanted ? this.#env.store.watch(this.ref, () => this.#heard()) : null;
  }

  /** Others may have written. */
  #heard(): void {
    if (this.#heardOf) return;
    this.#heardOf = true;
    setImmediate(async () => {
      this.#heardOf = false;
      if (!this.#unwatch) return;
      try {
        await this.look();
        this.viewers.wake();
        await this.#learn();
      } catch (error) {
        this.#report(error, `following session ${this.id}`);
        this.#again(() => this.#heard());
      }
    });
  }

  /** Does something again that the store did not let be done: nobody else may come to tell. */
  #again(what: () => void): void {
    setTimeout(() => {
      if (!this.#abandoned) what();
    }, RETAKE_MS.first).unref();
  }

  /** A run that is waited for was accepted: here, or where the session is held. */
  accepted(runId: string): void {
    this.results.accept(runId);
    if (this.writer) return;
    this.#watch();
    void this.#learn();
  }

  /** Resolves with the outcome of an accepted run, as the store has it. Follows the session until that is there. */
  async resultOf(runId: string): Promise<RunResult> {
    const result = this.results.of(runId);
    this.results.accept(runId);
    this.#watch();
    await this.#learn();
    return result;
  }

  /** Finds out how the runs ended that somebody waits for, where others may have ended them. @param beginning The run that is about to be accepted */
  async #learn(beginning?: string): Promise<void> {
    try {
      for (const runId of this.results.runIds) {
        // What is being accepted, is queued or runs here is told when it ends.
        if (runId === beginning || this.runs.queue.find(runId)) continue;
        // Before the store is asked: one that is accepted meanwhile may not be in its answer.
        const accepted = this.results.isAccepted(runId);
        const record = await this.#env.store.run(this.ref, { runId });
        // It has ended here, or is ending: the store may have forgotten that.
        if (record && !record.result && this.writer) this.recheck();
        if (record) this.results.learn(record);
        else if (accepted) this.results.missing(runId);
      }
    } catch (error) {
      this.#report(error, `reading runs of session ${this.id}`);
      // Nobody else may come to tell.
      this.#learning ??= setTimeout(() => {
        this.#learning = null;
        if (this.results.size > 0 && !this.#abandoned) void this.#learn();
      }, RETAKE_MS.first).unref();
    }
    this.#watch();
  }

  /**
   * Takes the log for writing; with `create` an absent or closed session begins anew. Null when there is none.
   *
   * @throws HeldElsewhere
   */
  hold(create?: Beginning, taking: Taking = {}): MaybePromise<LogWriter | null> {
    this.usedAt = performance.now();
    if (this.#closing) {
      // What would begin anew is turned away.
      if (create) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
      return null;
    }
    if (this.writer) return this.writer;
    if (this.#holding) return this.#holding.then((writer) => writer ?? this.hold(create, taking));
    const held = asUnavailable(() => this.#acquire(create, taking));
    if (!isPromise(held)) return held;
    this.#holding = held.finally(() => {
      this.#holding = null;
    });
    return this.#holding;
  }

  #acquire(create: Beginning | undefined, { from, toEnd }: Taking): MaybePromise<LogWriter | null> {
    const { store, holder } = this.#env;
    const options = { holder, taken: (): void => this.recheck(), ...(from !== undefined && { from }) };
    return andThen(store.acquire(this.ref, options), (acquired) => {
      if (from && acquired.kind === 'acquired') void this.cluster?.tellTaken(this.ref, from);
      if (acquired.kind !== 'absent' || !create) return this.#adopt(acquired, { toEnd });
      return andThen(store.count(this.ref.scope), (count) => {
        const allowed = this.#env.sessionsIn(this.ref.scope);
        if (count >= allowed) {
          throw new LimitError('limits.sessionsPerUser', {
            code: 'RATE_LIMITED',
            message: `A user can have ${allowed} open sessions; close one first`,
            retryAfterMs: 60_000,
          });
        }
        const { userId, runId, begun, ...parts } = create;
        const anew = { epoch: newEpoch(), ...(userId !== undefined && { userId }), ...parts };
        return andThen(store.acquire(this.ref, { create: anew, ...options }), (acquired) =>
          andThen(this.#adopt(acquired, { beginning: runId }), (writer) => {
            if (acquired.kind === 'acquired' && acquired.created) begun?.();
            return writer;
          }),
        );
      });
    });
  }

  #adopt(
    acquired: Acquired,
    {
      beginning,
      toEnd = false,
    }: { readonly beginning?: string | undefined; readonly toEnd?: boolean | undefined },
  ): MaybePromise<LogWriter | null> {
    if (acquired.kind === 'absent') return null;
    if (acquired.kind === 'owned') throw new HeldElsewhere(acquired.holder);
    const { head, record, openRuns, created } = acquired;
    const { term } = head;
    const view = this.#viewOf(head);
    const opened = LogWriter.open(this.#env.store, view, term, {
      retention: this.#env.retention,
      now: this.#env.now,
      listener: this,
    });
    const told = andThen(opened, (writer) => andThen(tellFirst(writer, record.userId), () => writer));
    return andThen(told, (writer) => {
      this.writer = writer;
      this.isLost = false;
      this.#show(view);
      this.#watch();
      if (created) {
        const user = record.userId === undefined ? {} : { userId: record.userId };
        this.#env.notify({ type: 'session:created', sessionId: this.id, app: this.ref.app, ...user });
      } else {
        const left = new LeftRuns(openRuns, record.userId);
        if (toEnd) recoverToEnd(this.runs, writer, left);
        else {
          this.calls.recover(writer);
          recover(this.runs, writer, left);
        }
      }
      void this.#learn(beginning);
      this.viewers.wake();
      return writer;
    });
  }

  committed(batch: LogBatch): void {
    this.viewers.wake(batch);
  }

  broken(term: number, error: unknown): void {
    this.#lose(term, error);
  }

  #report(error: unknown, what: string): void {
    this.#env.report(error, what, { sessionId: this.id, app: this.ref.app });
  }

  unavailable(error: unknown): void {
    this.#report(error, `the store cannot write session ${this.id} now`);
  }

  /** Another gateway may hold the session now: follows it where the store says so. */
  recheck(): void {
    this.#checkTerm().catch(() => this.#again(() => this.recheck()));
  }

  async #checkTerm(): Promise<void> {
    // What is being taken now may be lost by the time it is here.
    if (this.#holding) await this.#holding.catch(() => {});
    const { writer } = this;
    if (!writer) return;
    // What is acknowledged by now.
    const { head: known } = writer.view;
    const head = await this.#env.store.head(this.ref);
    if (head?.term !== writer.term)
      this.#lose(writer.term, new StoreError('FENCED', 'Another writer holds this session'));
    else if (head.head >= known) this.#lackingSince = null;
    else {
      this.#lackingSince ??= performance.now();
      if (performance.now() - this.#lackingSince < healMs(this.#env.store)) this.#again(() => this.recheck());
      else this.#lose(writer.term, new StoreError('ROLLED_BACK', 'The store lacks what it had'));
    }
  }

  refresh(): Promise<void> | null {
    return this.cluster && this.#refresh();
  }

  async #refresh(): Promise<void> {
    await asUnavailable(() => this.#checkTerm());
    // Others may read what was appended here before its answer is here.
    await this.writer?.settled();
    await this.look();
  }

  /** The log can't be written here any more: whoever holds it now, or the next to hold it, ends its runs in it. */
  #lose(term: number, error: unknown): void {
    // It may be another one by now, or lost already.
    if (this.writer?.term !== term) return;
    this.#report(error, `the log of session ${this.id} was lost`);
    const fenced = error instanceof StoreError && error.code === 'FENCED';
    const cursor = this.log?.cursor ?? '';
    this.writer = null;
    this.isLost = true;
    this.#lackingSince = null;
    if (!fenced) this.log = null;
    this.#calls?.endAll('The session was lost');
    this.runs.lose(cursor);
    if (fenced) {
      // Another gateway holds it, whose log those who follow it go on with.
      this.#watch();
      this.#heard();
    } else {
      this.viewers.interrupt();
      this.#retake();
    }
  }

  /** Takes up again what was lost here with its store: its runs are open in the log, and nobody else may come to end them. */
  #retake(ms = RETAKE_MS.first): void {
    const again = async (): Promise<void> => {
      if (this.writer || this.#abandoned) return;
      try {
        await this.hold();
      } catch (error) {
        // Another gateway was first: it is followed.
        if (error instanceof HeldElsewhere) return this.#heard();
        this.#retake(Math.min(2 * ms, RETAKE_MS.longest));
      }
    };
    setTimeout(() => void again(), ms).unref();
  }

  /** Ends every accepted run and the session in one append. Resolves when that is stored. @throws GatewayError `OVERLOADED`: nothing has ended */
  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason).finally(() => {
      this.#closing = null;
      this.runs.advance();
    });
    return this.#closing;
  }

  /**
   * The same, and drops all that is kept of the session with that append.
   *
   * @throws GatewayError `OVERLOADED`: nothing has happened; `SESSION_NOT_FOUND` once a close that ran has ended it
   */
  async delete(): Promise<void> {
    if (!this.#closing) return this.close(DELETED);
    await this.#closing;
    throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
  }

  async #close(reason: string): Promise<void> {
    const erase = reason === DELETED ? newEpoch() : undefined;
    await this.runs.close(this.writer!, { reason, erase }, () => {
      this.writer = null;
      this.log = null;
      // Who follows it reads its end here; the notice is for those who are behind.
      if (erase !== undefined) {
        this.#seenLast = erase;
        this.#notice = erase;
      }
    });
    this.#watch();
    this.#calls?.endAll('The session was closed');
    this.#env.notify({ type: 'session:closed', sessionId: this.id, app: this.ref.app });
  }

  /** Gives the session up if nobody uses it, also not by the time what was appended is stored. @throws GatewayError `OVERLOADED` */
  async retire(): Promise<void> {
    const { writer, log } = this;
    await writer?.quiesce();
    if (this.idle && this.writer === writer && this.log === log) await this.#letGo();
  }

  /** Waits until what was appended is stored, then gives the session up. @throws GatewayError `OVERLOADED` when it can't be stored now */
  async release(): Promise<void> {
    await this.writer?.quiesce();
    await this.#letGo();
  }

  async #letGo(): Promise<void> {
    const { writer } = this;
    this.writer = null;
    this.log = null;
    if (writer) await this.#env.store.release(this.ref, writer.term);
  }

  /** Gives the session up, even with what could not be stored within so many milliseconds. */
  async abandon(ms: number): Promise<void> {
    this.#abandoned = true;
    const { writer } = this;
    const cursor = this.log?.cursor ?? '';
    const failed = (error: unknown): void =>
      this.#report(error, `session ${this.id} was given up with events that could not be stored`);
    const released = this.release().catch(failed);
    if (!(await within(released, ms))) failed(new StoreError('UNKNOWN', 'The store did not answer'));
    writer?.abandon();
    this.writer = null;
    this.log = null;
    // Runs of a store that others use go on elsewhere, or are ended there.
    if (this.cluster) this.results.leave(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 }));
    else this.results.lose(cursor);
  }
}
