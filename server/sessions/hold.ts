import { GatewayError } from '../../shared/errors.js';
import { within } from '../async/deadline.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { HeldElsewhere } from '../cluster/held-elsewhere.js';
import type { HeldSession, Tenure } from '../held/held-session.js';
import { LimitError } from '../limit-error.js';
import type { LogBatch } from '../log/batch.js';
import type { LogListener } from '../log/log-options.js';
import { asUnavailable, notTried, unavailable } from '../log/unavailable.js';
import { StoreError } from '../stores/append.js';
import { Acquisition, type Beginning, type HoldOptions } from './acquisition.js';
import type { SessionEnvironment } from './environment.js';
import { Life } from './life.js';
import type { Session } from './session.js';

/** Delays before a refused store call is tried again, in milliseconds. Nobody else may come to trigger it. */
export const RETRY_MS = { first: 1000, longest: 30_000 };

/** The hold of a session: takes it for writing, loses it to another gateway or with its store, takes it again, closes it, and gives it up. */
export class Hold implements LogListener, Tenure {
  readonly life: Life;
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #acquisition: Acquisition;

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
    this.life = new Life(env.atWork);
    this.#acquisition = new Acquisition(session, env, this);
  }

  begins(): void {
    this.#env.atWork.begins(this.#session);
  }

  get mayStart(): boolean {
    return this.life.mayStart;
  }

  get closing(): boolean {
    return this.life.stage.name === 'closing';
  }

  get unfollowed(): boolean {
    return this.#session.unfollowed;
  }

  get results(): Tenure['results'] {
    return this.#session.results;
  }

  /**
   * Takes the session for writing. If none is open, `create` begins one; without `create` the result is null.
   *
   * @throws HeldElsewhere also names the gateway that takes over, if this one is ending
   * @throws GatewayError `SHUTTING_DOWN` if there is no such gateway
   */
  take(create?: Beginning, taking: HoldOptions = {}): MaybePromise<HeldSession | null> {
    const { stage } = this.life;
    switch (stage.name) {
      case 'held':
        return stage.held;
      case 'leaving':
        return this.elsewhere();
      case 'closing':
        // Refuse to begin a session anew until the close is stored.
        if (create) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
        return null;
      case 'taking':
        return stage.done.then((held) => held ?? this.take(create, taking));
      case 'doubtful':
        return this.#take(create, taking, stage.tries);
      case 'free':
        return this.#take(create, taking, 0);
    }
  }

  #take(create: Beginning | undefined, taking: HoldOptions, tries: number): MaybePromise<HeldSession | null> {
    const taken = (held: HeldSession | null): HeldSession | null => {
      if (!held) this.#free();
      return held;
    };
    const failed = (error: unknown): never => {
      const isRefused = error instanceof StoreError && error.code === 'REFUSED';
      // The store may have recorded this gateway as the holder, with runs that others left in the session.
      if (error instanceof HeldElsewhere || error instanceof LimitError || isRefused) this.#free();
      else this.#doubt(tries);
      if (!(error instanceof StoreError)) throw error;
      if (isRefused) throw unavailable(error);
      this.refused();
      // A session may have begun, but nobody was told of it and nothing was done in it.
      throw create?.begun ? unavailable(error) : notTried(error);
    };
    try {
      const acquired = this.#acquisition.acquire(create, taking);
      if (!isPromise(acquired)) return taken(acquired);
      const done = acquired.then(taken, failed);
      this.life.become({ name: 'taking', tries, done });
      return done;
    } catch (error) {
      return failed(error);
    }
  }

  /** The session is not held here, as far as the store knows. */
  #free(): void {
    if (this.life.stage.name !== 'free') this.life.become({ name: 'free' });
  }

  /** Refers callers to the gateway that takes the session over, as this one ends. @throws HeldElsewhere; GatewayError `SHUTTING_DOWN` */
  async elsewhere(): Promise<never> {
    const next = await asUnavailable(() => this.#env.cluster.heirOf(this.#session.ref));
    if (next === undefined) throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
    throw new HeldElsewhere(next);
  }

  committed(batch: LogBatch): void {
    this.#env.written.took(this.#session);
    this.#session.viewers.wake(batch);
    this.life.held?.runs.lanes.wake(batch);
  }

  refused(): void {
    this.#env.written.refused(this.#session);
  }

  rejected(runIds: Iterable<string>, cause: unknown): void {
    this.#session.report(cause, `the store cannot keep what session ${this.#session.id} was to have`);
    const runs = this.life.held?.runs;
    const { code, message } = unavailable(cause);
    for (const runId of runIds) {
      const run = runs?.find(runId);
      if (run) void runs!.end(run, { stopReason: 'error', error: { code, message } });
    }
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
    const { stage } = this.life;
    // A session that is being taken now may be lost again before the take completes.
    if (stage.name === 'taking') await stage.done.catch(() => {});
    const { held } = this.life;
    if (!held) return;
    const { term, view } = held.log;
    // Note the acknowledged head before asking the store.
    const { head: known } = view;
    const head = await this.#env.store.head(this.#session.ref);
    if (head?.term === term && head.head >= known) return;
    // The term of a next holder is higher.
    const isForgotten = head !== null && head.term <= term;
    const error = isForgotten
      ? new StoreError('ROLLED_BACK', 'The store has lost events that this gateway has seen')
      : new StoreError('FENCED', 'Another gateway holds this session');
    this.#lose(term, error);
  }

  /** Repeats later a call that the store refused. */
  tryAgain(what: () => void): void {
    setTimeout(() => {
      if (this.life.stage.name !== 'leaving') what();
    }, RETRY_MS.first).unref();
  }

  /** The log can't be written here any more. Its next holder ends its runs. */
  #lose(term: number, error: unknown): void {
    const { held } = this.life;
    // The writer may be another one by now, or be lost already.
    if (held?.log.term !== term) return;
    const session = this.#session;
    const code = error instanceof StoreError ? error.code : null;
    const isFenced = code === 'FENCED';
    if (isFenced)
      this.#env.report.warn?.(`another gateway has taken session ${session.id} over`, { ...session.facts });
    else
      session.report(
        error,
        code === 'ROLLED_BACK'
          ? `the store has forgotten events of session ${session.id}`
          : `session ${session.id} was given up: its events could not be stored`,
      );
    this.#drop(held);
    session.endCalls('The session was lost');
    if (isFenced) {
      // Another gateway holds the session. Its followers here continue in that gateway's log.
      session.reader.watch();
      session.reader.heard();
    } else {
      session.reader.forget();
      session.viewers.interrupt();
      this.#doubt(0);
    }
  }

  /** Ends the hold here. */
  #drop(held: HeldSession): void {
    if (this.life.held === held) this.life.become({ name: 'free' });
    held.drop();
  }

  /**
   * Takes the session again, and keeps trying: its store lost the log, or did not say who holds it. Nobody else may come to end its runs,
   * and no other gateway can take a session that the store says is held here.
   */
  #doubt(tries: number): void {
    const { life } = this;
    life.become({ name: 'doubtful', tries: tries + 1 });
    const { stage } = life;
    // A gateway that is ending takes nothing again.
    if (stage.name !== 'doubtful') return;
    const longest = Math.min(RETRY_MS.longest, this.#env.cluster.leaseMs / 2);
    const ms = tries === 0 ? 0 : Math.min(RETRY_MS.first * 2 ** (tries - 1), longest);
    setTimeout(() => {
      if (life.stage === stage) void this.#takeAgain();
    }, ms).unref();
  }

  async #takeAgain(): Promise<void> {
    try {
      await this.#session.take();
    } catch (error) {
      // Another gateway took the session first. Follow it there.
      if (error instanceof HeldElsewhere) this.#session.reader.heard();
    }
  }

  /**
   * Ends every accepted run and the session in one append. Resolves when they are stored.
   *
   * @param erase Epoch of the notice that a delete leaves
   * @throws GatewayError `OVERLOADED`: nothing has ended
   */
  close(
    held: HeldSession,
    { reason, erase }: { readonly reason: string; readonly erase?: string },
  ): Promise<void> {
    const { life } = this;
    const isThis = (): boolean => life.stage.name === 'closing' && life.stage.done === done;
    const stored = held.runs.close({ reason, erase }, () => {
      if (isThis()) life.become({ name: 'closing', held: null, done });
      held.drop();
      this.#session.reader.forget(erase);
    });
    const done = stored.finally(() => {
      if (isThis()) life.become(life.held ? { name: 'held', held } : { name: 'free' });
      held.runs.advance();
    });
    life.become({ name: 'closing', held, done });
    return done;
  }

  /** Waits until everything appended is stored, then gives the session up. @throws StoreError if the store can't take it now */
  async #release(held: HeldSession): Promise<void> {
    await held.log.quiesce();
    await this.#letGo(held);
  }

  /** Gives the session up without waiting for the store. @throws StoreError */
  async letGo(): Promise<void> {
    const { held } = this.life;
    const { reader, viewers } = this.#session;
    const { view } = reader;
    const released = held && this.#letGo(held);
    // Subscribers here continue in the log of the next holder. That may be this gateway before the store has answered.
    if (viewers.watching) reader.resume(view);
    else reader.watch();
    await released;
  }

  async #letGo(held: HeldSession): Promise<void> {
    this.#drop(held);
    this.#session.reader.forget();
    try {
      await this.#env.store.release(this.#session.ref, held.log.term);
    } catch (error) {
      if (this.life.stage.name === 'free') this.#doubt(0);
      throw error;
    }
  }

  /** Gives the session up after at most this many milliseconds, even if some events could not be stored. */
  async abandon(ms: number): Promise<void> {
    this.life.leave();
    const { held } = this.life;
    const session = this.#session;
    const { view } = session.reader;
    if (held) {
      const failed = (error: unknown): void =>
        session.report(error, `session ${session.id} was given up with events that could not be stored`);
      const released = this.#release(held).catch(failed);
      if (!(await within(released, ms))) failed(new StoreError('UNKNOWN', 'The store did not answer'));
      this.#drop(held);
    }
    session.reader.forget();
    // Subscribers here continue in the log of the next holder.
    if (session.viewers.watching) session.reader.resume(view);
  }
}
