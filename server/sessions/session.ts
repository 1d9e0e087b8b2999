import { GatewayError } from '../../shared/errors.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import type { RunResult } from '../../shared/operation-types.js';
import { within } from '../async/deadline.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { Subscribable, Subscription } from '../delivery/subscription.js';
import { newEpoch } from '../ids.js';
import type { LogBatch } from '../log/batch.js';
import type { LogListener } from '../log/log-options.js';
import { LogView } from '../log/log-view.js';
import { LogWriter } from '../log/log-writer.js';
import { openLastLog, openNextLog, openPastLog } from '../log/past-log.js';
import type { ReadableLog } from '../log/readable-log.js';
import { asUnavailable } from '../log/unavailable.js';
import { type Acquired, IDLE, type LogHead, type SessionRef, StoreError } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { Publisher } from './publisher.js';
import { LeftRuns } from './run-record.js';
import { RunResults } from './run-results.js';
import { SessionCalls } from './session-calls.js';
import { SessionRuns } from './session-runs.js';
import { type Desertion, Viewers } from './viewers.js';

/** How soon a log is taken up again that was lost with its store, in milliseconds. */
const RETAKE_MS = { first: 1000, longest: 30_000 };

/** By whom a session is begun where there is none, and with which run. */
export interface Beginning {
  readonly userId: string | undefined;
  readonly runId?: string;
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
  openings = 0;
  /** When it was last used, for eviction; monotonic milliseconds. */
  usedAt = performance.now();
  readonly #env: SessionEnvironment;
  #holding: Promise<LogWriter | null> | null = null;
  /** Stops hearing what others write. */
  #unwatch: (() => void) | null = null;
  /** Whether it is about to look at what others wrote. */
  #heardOf = false;
  #closing: Promise<void> | null = null;
  /** Its gateway is ending. */
  #abandoned = false;

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

  /** Whether a close is in progress. */
  get closing(): boolean {
    return this.#closing !== null;
  }

  get idle(): boolean {
    const used = this.viewers.any || this.results.size > 0 || this.runs.busy || (this.#calls?.size ?? 0) > 0;
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
    if (!active || onDisconnect !== 'abort') return null;
    const ending = { stopReason: 'aborted', reason: 'disconnected' } as const;
    return { afterMs: this.#env.disconnectGraceMs, end: () => void this.runs.end(active, ending) };
  }

  pastLog(epoch: string): Promise<ReadableLog | null> {
    return openPastLog(this.#env.store, this.ref, epoch);
  }

  lastLog(): Promise<ReadableLog | null> {
    return openLastLog(this.#env.store, this.ref);
  }

  nextLog(after: string | null): MaybePromise<ReadableLog | null> {
    return openNextLog(this.#env.store, this.ref, { after, present: this.log });
  }

  /** Looks at the present log, which that takes from nobody; null when there is none. */
  look(): MaybePromise<LogView | null> {
    this.usedAt = performance.now();
    // What only looks must not wait for a close that runs.
    if (this.#closing) return null;
    if (this.writer) return this.log;
    if (this.#holding) return this.#holding.then(() => this.look());
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
      return null;
    }
    const view = this.#viewOf(head);
    return andThen(view.settleActivity(), () => {
      if (this.#overtaken) return this.look();
      this.#show(view);
      return view;
    });
  }

  /** The view of a log that stands at a head: the one that is there, where it is of that. */
  #viewOf(head: LogHead): LogView {
    const { epoch } = head;
    if (this.log?.ref.epoch !== epoch) {
      const { scope, app, name } = this.ref;
      return new LogView(this.#env.store, { scope, app, name, epoch }, head, this.#env.pageBytes);
    }
    this.log.update(head);
    return this.log;
  }

  #show(view: LogView): void {
    if (this.log === view) return;
    this.log = view;
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
        this.#env.report(error, `following session ${this.id}`);
      }
    });
  }

  /** Resolves with the outcome of an accepted run, as the store has it. Follows the session until that is there. */
  async resultOf(runId: string): Promise<RunResult> {
    const result = this.results.of(runId);
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
        const record = await this.#env.store.run(this.ref, { runId });
        if (record) this.results.learn(record);
      }
    } catch (error) {
      this.#env.report(error, `reading runs of session ${this.id}`);
    }
    this.#watch();
  }

  /** Takes the log for writing; with `create` an absent or closed session begins anew. Null when there is none. */
  hold(create?: Beginning): MaybePromise<LogWriter | null> {
    this.usedAt = performance.now();
    if (this.#closing) {
      // What would begin anew is turned away.
      if (create) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
      return null;
    }
    if (this.writer) return this.writer;
    if (this.#holding) return this.#holding.then((writer) => writer ?? this.hold(create));
    const held = asUnavailable(() => this.#acquire(create));
    if (!isPromise(held)) return held;
    this.#holding = held.finally(() => {
      this.#holding = null;
    });
    return this.#holding;
  }

  #acquire(create?: Beginning): MaybePromise<LogWriter | null> {
    const { store, holder } = this.#env;
    const taken = (): void => this.#taken();
    return andThen(store.acquire(this.ref, { holder, taken }), (acquired) => {
      if (acquired.kind !== 'absent' || !create) return this.#adopt(acquired);
      return andThen(store.count(this.ref.scope), (count) => {
        const allowed = this.#env.sessionsIn(this.ref.scope);
        if (count >= allowed) {
          throw new GatewayError({
            code: 'RATE_LIMITED',
            message: `A user can have ${allowed} open sessions; close one first`,
            retryAfterMs: 60_000,
          });
        }
        const { userId } = create;
        const anew = { epoch: newEpoch(), ...(userId !== undefined && { userId }) };
        return andThen(store.acquire(this.ref, { holder, taken, create: anew }), (begun) =>
          this.#adopt(begun, create.runId),
        );
      });
    });
  }

  #adopt(acquired: Acquired, beginning?: string): MaybePromise<LogWriter | null> {
    if (acquired.kind === 'absent') return null;
    if (acquired.kind === 'owned') {
      throw new GatewayError({
        code: 'OVERLOADED',
        message: 'The session is held by another gateway',
        retryAfterMs: 1000,
      });
    }
    const { head, record, openRuns, created } = acquired;
    const { term } = head;
    const view = this.#viewOf(head);
    const opened = LogWriter.open(this.#env.store, view, term, {
      retention: this.#env.retention,
      now: this.#env.now,
      listener: this,
    });
    return andThen(opened, (writer) => {
      this.writer = writer;
      this.#show(view);
      this.#watch();
      if (created) {
        const user = record.userId === undefined ? {} : { userId: record.userId };
        this.#env.notify({ type: 'session:created', sessionId: this.id, app: this.ref.app, ...user });
      } else {
        this.calls.recover(writer);
        this.runs.recover(writer, new LeftRuns(openRuns, record.userId));
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

  unavailable(error: unknown): void {
    this.#env.report(error, `the store cannot write session ${this.id} now`);
  }

  /** Another gateway holds the session now, if the store says the truth. */
  #taken(): void {
    const { writer } = this;
    if (!writer) return;
    const lost = (head: LogHead | null): void => {
      if (head?.term !== writer.term)
        this.#lose(writer.term, new StoreError('FENCED', 'Another writer holds this session'));
    };
    try {
      const head = this.#env.store.head(this.ref);
      if (isPromise(head)) head.then(lost, () => {});
      else lost(head);
    } catch {
      // Its next write finds out.
    }
  }

  /** The log can't be written here any more: whoever holds it now, or the next to hold it, ends its runs in it. */
  #lose(term: number, error: unknown): void {
    // It may be another one by now, or lost already.
    if (this.writer?.term !== term) return;
    this.#env.report(error, `the log of session ${this.id} was lost`);
    const fenced = error instanceof StoreError && error.code === 'FENCED';
    const cursor = this.log?.cursor ?? '';
    this.writer = null;
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
      } catch {
        this.#retake(Math.min(2 * ms, RETAKE_MS.longest));
      }
    };
    setTimeout(() => void again(), ms).unref();
  }

  /** Ends every accepted run and the session in one append. Resolves when that is stored. @throws GatewayError `OVERLOADED`: nothing has ended */
  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason).finally(() => {
      this.#closing = null;
      this.runs.resume();
    });
    return this.#closing;
  }

  async #close(reason: string): Promise<void> {
    await this.runs.close(this.writer!, reason, () => {
      this.writer = null;
      this.log = null;
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
      this.#env.report(error, `session ${this.id} was given up with events that could not be stored`);
    const released = this.release().catch(failed);
    if (!(await within(released, ms))) failed(new StoreError('UNKNOWN', 'The store did not answer'));
    writer?.abandon();
    this.writer = null;
    this.log = null;
    this.results.lose(cursor);
  }
}
