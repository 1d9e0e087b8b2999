import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../shared/errors.js';
import { within } from '../async/deadline.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { HeldElsewhere } from '../cluster/held-elsewhere.js';
import { newEpoch } from '../ids.js';
import { LimitError } from '../limit-error.js';
import type { LogBatch } from '../log/batch.js';
import { healMs } from '../log/heal.js';
import type { LogListener, LogOptions } from '../log/log-options.js';
import type { LogView } from '../log/log-view.js';
import { LogWriter } from '../log/log-writer.js';
import { asUnavailable, notTried, unavailable } from '../log/unavailable.js';
import { storeTime } from '../stores/skew.js';
import { type Acquired, type NewSession, StoreError } from '../stores/store.js';
import { childEndsOf } from './child-ends.js';
import type { SessionEnvironment } from './environment.js';
import { tellFirst } from './fork.js';
import { recover, recoverToEnd } from './recovery.js';
import { LeftRuns } from './run-record.js';
import type { Session } from './session.js';

/** Delays before a refused store call is tried again, in milliseconds. Nobody else may come to trigger it. */
export const RETRY_MS = { first: 1000, longest: 30_000 };

/** The user who begins a session that does not exist, and its first content. */
export interface Beginning extends Omit<NewSession, 'epoch' | 'userId'> {
  readonly userId: string | undefined;
  /** The run that is about to be accepted. */
  readonly runId?: string;
  /** Called once the session has begun. */
  readonly begun?: () => void;
}

/** How an existing session is taken. */
export interface Taking {
  /** A dead holder that the session may be taken from. */
  readonly from?: string | undefined;
  /** The session is taken only to be deleted, so the runs left in it do not start again. @default false */
  readonly toEnd?: boolean | undefined;
}

/** The hold of a session: it is taken for writing, lost to another gateway or with its store, taken again, and given up. */
export class Holding implements LogListener {
  /** Set while the session is held here. */
  writer: LogWriter | null = null;
  /** Whether its writer was lost since it was last held. */
  isLost = false;
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  #taking: Promise<LogWriter | null> | null = null;
  /** Set while the session is being taken again, until its holder is known. */
  #retaking = false;
  /** Time at which the store was first seen to lack events written here; monotonic milliseconds. */
  #lackingSince: number | null = null;
  /** Set once the gateway is ending. */
  #abandoned = false;

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  /** The take that is in progress, if any. */
  get taking(): Promise<LogWriter | null> | null {
    return this.#taking;
  }

  /** Whether the session is held here, or its holder is being determined. */
  get known(): boolean {
    return this.writer !== null || this.#taking !== null || this.#retaking;
  }

  /** Whether the session is being given up and may not be taken again: this gateway is ending, and others can go on. */
  get leaving(): boolean {
    return this.#abandoned || (this.#session.runs.held && !this.writer);
  }

  /**
   * Takes the log for writing. If no session is open, `create` begins one; without `create` the result is null.
   *
   * @throws HeldElsewhere also names the gateway that takes over, if this one is ending
   * @throws GatewayError `SHUTTING_DOWN` if there is no such gateway
   */
  take(create?: Beginning, taking: Taking = {}): MaybePromise<LogWriter | null> {
    if (this.leaving) return this.#elsewhere();
    if (this.#session.closing) {
      // Refuse to begin a session anew until the close is stored.
      if (create) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
      return null;
    }
    if (this.writer) return this.writer;
    if (this.#taking) return this.#taking.then((writer) => writer ?? this.take(create, taking));
    const failed = (error: unknown): never => {
      // The store may have recorded this gateway as the holder, with runs that others left in the session.
      if (!(error instanceof HeldElsewhere || error instanceof LimitError)) this.#retake();
      if (!(error instanceof StoreError)) throw error;
      this.refused();
      // A session may have begun, but nobody was told of it and nothing was done in it.
      throw create?.begun ? unavailable(error) : notTried(error);
    };
    try {
      const held = this.#acquire(create, taking);
      if (!isPromise(held)) return held;
      this.#taking = held.catch(failed).finally(() => {
        this.#taking = null;
      });
      return this.#taking;
    } catch (error) {
      return failed(error);
    }
  }

  /** Refers callers to the gateway that takes the session over, as this one ends. */
  async #elsewhere(): Promise<never> {
    const next = await asUnavailable(() => this.#env.cluster.heirOf(this.#session.ref));
    if (next === undefined) throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
    throw new HeldElsewhere(next);
  }

  #acquire(create: Beginning | undefined, { from, toEnd }: Taking): MaybePromise<LogWriter | null> {
    const { store, holder, cluster } = this.#env;
    const { ref } = this.#session;
    const options = { holder, taken: (): void => void this.recheck(), ...(from !== undefined && { from }) };
    return andThen(store.acquire(ref, options), (acquired) => {
      if (from && acquired.kind === 'acquired') void cluster.tellTaken(ref, from);
      if (acquired.kind !== 'absent' || !create) return this.#adopt(acquired, { toEnd });
      return andThen(this.#room(), () => {
        const { userId, runId, begun, ...parts } = create;
        const anew = { epoch: newEpoch(), ...(userId !== undefined && { userId }), ...parts };
        return andThen(store.acquire(ref, { create: anew, ...options }), (acquired) =>
          andThen(this.#adopt(acquired, { beginning: runId }), (writer) => {
            if (acquired.kind === 'acquired' && acquired.created) begun?.();
            return writer;
          }),
        );
      });
    });
  }

  /** Checks whether the scope may have another open session. Counting takes as long as there are sessions. @throws LimitError */
  #room(): MaybePromise<void> {
    const { scope } = this.#session.ref;
    const allowed = this.#env.sessionsIn(scope);
    if (allowed === Number.POSITIVE_INFINITY) return;
    return andThen(this.#env.store.count(scope), (count) => this.#assertRoom(count, allowed));
  }

  #assertRoom(count: number, allowed: number): void {
    if (count < allowed) return;
    throw new LimitError('limits.sessionsPerUser', {
      code: 'RATE_LIMITED',
      message: `A user can have ${allowed} open sessions; close one first`,
      retryAfterMs: 60_000,
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
    const session = this.#session;
    const view = session.viewOf(head);
    const opened = LogWriter.open(this.#env.store, view, head.term, {
      retention: this.#env.retention,
      moderation: this.#env.moderation,
      now: this.#env.now,
      arrivals: record.arrivals,
      listener: this,
      recordsOf: this.#recordsOf(view, head.term),
    });
    const told = andThen(opened, (writer) => andThen(tellFirst(writer, record.userId), () => writer));
    return andThen(told, (writer) => {
      this.writer = writer;
      this.isLost = false;
      session.show(view);
      session.watch();
      if (created) {
        const { id: sessionId, ref } = session;
        const user = record.userId === undefined ? {} : { userId: record.userId };
        this.#env.notify({ type: 'session:created', sessionId, app: ref.app, ...user });
      } else {
        const left = new LeftRuns(openRuns, record.userId);
        if (toEnd) recoverToEnd(session.runs, writer, left);
        else {
          session.calls.recover(writer);
          recover(session.runs, writer, left);
        }
      }
      void session.results.learn(beginning);
      session.viewers.wake();
      return writer;
    });
  }

  /** Makes what is owed because of events, in the same append: runs after children, and notices for people who are away. */
  #recordsOf({ ref: log }: LogView, term: number): LogOptions['recordsOf'] {
    const { notices, store, report } = this.#env;
    const { id: sessionId, runs } = this.#session;
    return (change) => {
      // The queue no longer has a run that ends.
      const userOf = (runId: string) =>
        (change.ends.find(({ id }) => id === runId) ?? runs.find(runId))?.request.user ?? null;
      const ends = childEndsOf(change, log.epoch, storeTime(store), userOf);
      if (!notices) return ends;
      try {
        const told = notices.of({
          ...{ log, term, sessionId, storeTime: (at) => storeTime(store, at), userOf },
          ...change,
        });
        return [...ends, ...told];
      } catch (error) {
        // If notices fail, lose the notices rather than the events.
        report(error, 'making notices', { sessionId });
        return ends;
      }
    };
  }

  committed(batch: LogBatch): void {
    this.#env.written.took();
    this.#session.viewers.wake(batch);
    this.#session.runs.lanes.wake(batch);
  }

  refused(): void {
    this.#env.written.refused();
  }

  broken(term: number, error: unknown): void {
    this.#lose(term, error);
  }

  unavailable(error: unknown): void {
    this.#session.report(error, `the store cannot write session ${this.#session.id} now`);
  }

  /** Follows the session elsewhere if the store says that another gateway holds it now. */
  recheck(): Promise<void> {
    return this.checkTerm().catch(() => this.tryAgain(() => this.recheck()));
  }

  /** Checks with the store whether the session is still held here. */
  async checkTerm(): Promise<void> {
    // A session that is being taken now may be lost again before the take completes.
    if (this.#taking) await this.#taking.catch(() => {});
    const { writer } = this;
    if (!writer) return;
    // Note the acknowledged head before asking the store.
    const { head: known } = writer.view;
    const head = await this.#env.store.head(this.#session.ref);
    if (head?.term !== writer.term)
      this.#lose(writer.term, new StoreError('FENCED', 'Another writer holds this session'));
    else if (head.head >= known) this.#lackingSince = null;
    else {
      this.#lackingSince ??= performance.now();
      if (performance.now() - this.#lackingSince < healMs(this.#env.store))
        this.tryAgain(() => void this.recheck());
      else this.#lose(writer.term, new StoreError('ROLLED_BACK', 'The store lacks what it had'));
    }
  }

  /** Repeats later a call that the store refused. */
  tryAgain(what: () => void): void {
    setTimeout(() => {
      if (!this.#abandoned) what();
    }, RETRY_MS.first).unref();
  }

  /** Marks the log as lost: it can't be written here any more. Its next holder ends its runs. */
  #lose(term: number, error: unknown): void {
    // The writer may be another one by now, or be lost already.
    if (this.writer?.term !== term) return;
    const session = this.#session;
    session.report(error, `the log of session ${session.id} was lost`);
    const fenced = error instanceof StoreError && error.code === 'FENCED';
    const cursor = session.log?.cursor ?? '';
    this.writer = null;
    this.isLost = true;
    this.#lackingSince = null;
    if (!fenced) session.log = null;
    session.endCalls('The session was lost');
    session.runs.lose(cursor);
    if (fenced) {
      // Another gateway holds the session. Its followers here continue in that gateway's log.
      session.watch();
      session.heard();
    } else {
      session.viewers.interrupt();
      this.#retake();
    }
  }

  /**
   * Takes the session again, and keeps trying: its store lost the log, or did not say who holds it. Nobody else may come to end its runs,
   * and no other gateway can take a session that the store says is held here.
   */
  #retake(): void {
    if (this.#retaking) return;
    this.#retaking = true;
    void this.#takeUntilKnown().finally(() => {
      this.#retaking = false;
    });
  }

  async #takeUntilKnown(): Promise<void> {
    const longest = Math.min(RETRY_MS.longest, this.#env.cluster.leaseMs / 2);
    for (let ms = 0; ; ms = Math.min(2 * ms || RETRY_MS.first, longest)) {
      await delay(ms, undefined, { ref: false });
      if (this.writer || this.leaving) return;
      try {
        await this.#session.hold();
        return;
      } catch (error) {
        // Another gateway took the session first. Follow it there.
        if (error instanceof HeldElsewhere) return this.#session.heard();
      }
    }
  }

  /** Waits until everything appended is stored, then gives the session up. @throws GatewayError `OVERLOADED` if the store can't take it now */
  async release(): Promise<void> {
    await this.writer?.quiesce();
    await this.letGo();
  }

  /** Gives the session up without waiting for the store. */
  async letGo(): Promise<void> {
    const { writer } = this;
    this.forget();
    try {
      if (writer) await this.#env.store.release(this.#session.ref, writer.term);
    } catch (error) {
      this.#retake();
      throw error;
    }
  }

  /** Forgets the writer: the session is no longer held here. */
  forget(): void {
    this.writer = null;
    this.#session.log = null;
  }

  /** Gives the session up after at most this many milliseconds, even if some events could not be stored. */
  async abandon(ms: number): Promise<void> {
    this.#abandoned = true;
    const { writer } = this;
    const session = this.#session;
    const { log } = session;
    const failed = (error: unknown): void =>
      session.report(error, `session ${session.id} was given up with events that could not be stored`);
    const released = this.release().catch(failed);
    if (!(await within(released, ms))) failed(new StoreError('UNKNOWN', 'The store did not answer'));
    writer?.abandon();
    this.forget();
    if (!this.#env.cluster || !session.viewers.watching) return;
    // Subscribers here continue in the log of the next holder.
    session.log = log;
    session.watch();
    session.heard();
  }
}
