import { GatewayError } from '../../shared/errors.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Subscribable, Subscription } from '../delivery/subscription.js';
import { newEpoch } from '../ids.js';
import { LogView } from '../log/log-view.js';
import type { LogWriter } from '../log/log-writer.js';
import { openLastLog, openNextLog, openPastLog } from '../log/past-log.js';
import type { ReadableLog } from '../log/readable-log.js';
import { asUnavailable } from '../log/unavailable.js';
import { IDLE, type LogHead, type News, type SessionRef, type Store } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { type Beginning, Holding, type Taking } from './holding.js';
import { Publisher } from './publisher.js';
import { RunResults } from './run-results.js';
import { SessionCalls } from './session-calls.js';
import { SessionRuns } from './session-runs.js';
import { Viewers } from './viewers.js';

/** Reason of a close that deletes the session. */
export const DELETED = 'deleted';

/** One live session: the view of its log, its holder's part, its runs and its followers. It outlives a close: the next send begins a new log. */
export class Session implements Subscribable {
  readonly ref: SessionRef;
  readonly id: string;
  readonly holding: Holding;
  readonly runs: SessionRuns;
  readonly publisher: Publisher;
  readonly viewers: Viewers;
  readonly results: RunResults;
  #calls: SessionCalls | null = null;
  /** The view of the present log, once it was looked at. */
  log: LogView | null = null;
  openings = 0;
  /** Epoch of the conversation that was last seen here. */
  #seenLast: string | undefined;
  /** Epoch of the notice that a delete from here left. */
  #notice: string | undefined;
  /** Time of the last use, for eviction; monotonic milliseconds. */
  usedAt = performance.now();
  readonly #env: SessionEnvironment;
  /** Stops watching the store for writes of others. */
  #unwatch: (() => void) | null = null;
  /** Whether a look at others' writes is pending, and whether another one must follow. */
  readonly #hearing = { now: false, again: false };
  #closing: Promise<void> | null = null;

  constructor(ref: SessionRef, env: SessionEnvironment) {
    this.ref = ref;
    this.#env = env;
    this.id = env.format(ref.app, ref.name);
    this.holding = new Holding(this, env);
    this.runs = new SessionRuns(this, env);
    this.publisher = new Publisher(this, env);
    this.viewers = new Viewers(this, env);
    this.results = new RunResults(this, env);
  }

  /** The writer of its log, while the session is held here. */
  get writer(): LogWriter | null {
    return this.holding.writer;
  }

  /** The tool calls outside of runs. */
  get calls(): SessionCalls {
    this.#calls ??= new SessionCalls(this, this.#env);
    return this.#calls;
  }

  /** Ends the tool calls outside of runs, if any. */
  endCalls(reason: string): void {
    this.#calls?.endAll(reason);
  }

  /** The gateways on the same store. */
  get cluster(): Cluster {
    return this.#env.cluster;
  }

  get store(): Store {
    return this.#env.store;
  }

  /** Whether a close is in progress. */
  get closing(): boolean {
    return this.#closing !== null;
  }

  get idle(): boolean {
    return !this.runs.busy && this.results.size === 0 && this.unfollowed;
  }

  /** Whether the session has no follower and no work under way here. Awaited results do not count: they come from the store. */
  get unfollowed(): boolean {
    const used = this.viewers.any || (this.#calls?.busy ?? false);
    return !used && !this.holding.taking && !this.#closing;
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

  /** Called when a viewer came or left. */
  viewersChanged(): void {
    this.usedAt = performance.now();
    this.watch();
    if (!this.viewers.any && !this.log) this.#env.unused(this.ref);
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

  /** Reads where the present log stands, without taking it from its holder. Null if there is none. */
  look(): MaybePromise<LogView | null> {
    this.usedAt = performance.now();
    // A look does not wait for a close in progress: until that is stored, the whole log is there.
    if (this.writer) return this.log;
    if (this.#closing) return null;
    // A look does not depend on whether the take succeeds.
    const again = (): MaybePromise<LogView | null> => this.look();
    if (this.holding.taking) return this.holding.taking.then(again, again);
    const { store } = this.#env;
    return asUnavailable(() =>
      andThen(store.head(this.ref), (head) => andThen(this.#settle(head), () => this.#seen(head))),
    );
  }

  /** Gives readers of the previous log its end. */
  #settle(present: LogHead | null): MaybePromise<void> {
    const { log } = this;
    if (this.writer || !log || (present?.epoch === log.ref.epoch && !present.closed)) return;
    return andThen(this.#env.store.head(this.ref, log.ref.epoch), (head) => {
      if (head && !this.#overtaken) log.update(head);
    });
  }

  /** Whether the session was taken or closed here while the store was asked for the head. */
  get #overtaken(): boolean {
    return this.writer !== null || this.holding.taking !== null || this.#closing !== null;
  }

  #seen(head: LogHead | null): MaybePromise<LogView | null> {
    if (this.#overtaken) return this.look();
    if (!head || head.closed) {
      this.log = null;
      // A new log replaced the old one, or the session is gone. Move its subscribers to the new log, or end them with `gap`.
      const isOther = this.#seenLast !== undefined && head?.epoch !== this.#seenLast;
      // Subscribers here have read the end of a log that was deleted from here.
      if (isOther && (head || this.#seenLast !== this.#notice)) this.openings += 1;
      this.#seenLast = head?.epoch;
      return null;
    }
    const view = this.viewOf(head);
    this.show(view);
    return view;
  }

  /** The view of a log at a head: the present view if it is of the same log, else a new one. */
  viewOf(head: LogHead): LogView {
    const { epoch } = head;
    if (this.log?.ref.epoch === epoch) {
      this.log.update(head);
      if (!this.log.isReplaced) return this.log;
    }
    const { scope, app, name } = this.ref;
    return new LogView(this.#env.store, { scope, app, name, epoch }, head, this.#env.pageBytes);
  }

  /** Makes a view the present one of the session. */
  show(view: LogView): void {
    if (this.log === view) return;
    this.log = view;
    this.#seenLast = view.ref.epoch;
    this.openings += 1;
    this.#env.opened(this.ref);
  }

  /** Watches the store for others' writes while the session is not held here and somebody follows it or waits for a run. */
  watch(): void {
    const wanted = (this.viewers.watching || this.results.size > 0) && !this.writer;
    if (wanted === (this.#unwatch !== null)) return;
    this.#unwatch?.();
    this.#unwatch = wanted ? this.#env.store.watch(this.ref, (news) => this.heard(news)) : null;
  }

  /** Called when others may have written. @param news A batch that they appended */
  heard(news?: News): void {
    if (news && !this.#overtaken && this.log?.follow(news)) return this.viewers.wake();
    const hearing = this.#hearing;
    if (hearing.now) hearing.again = true;
    else {
      hearing.now = true;
      setImmediate(() => void this.#hear());
    }
  }

  /** One look at a time, so that a slow store does not get more requests. */
  async #hear(): Promise<void> {
    const hearing = this.#hearing;
    hearing.again = false;
    try {
      if (this.#unwatch) {
        await this.look();
        this.viewers.wake();
        await this.results.learnEnds();
      }
    } catch (error) {
      this.report(error, `following session ${this.id}`);
      this.holding.tryAgain(() => this.heard());
    }
    hearing.now = false;
    if (hearing.again) this.heard();
  }

  /** Reads what others wrote, and checks whether the session is still held here. Null if nobody else can write. */
  refresh(): Promise<void> | null {
    return this.store.shared ? this.#refresh() : null;
  }

  async #refresh(): Promise<void> {
    await asUnavailable(() => this.holding.checkTerm());
    // Others may read events appended here before the store's answer arrives here.
    await this.writer?.settled();
    await this.look();
  }

  /** Takes the log for writing: see `Holding.take`. @throws HeldElsewhere */
  hold(create?: Beginning, taking?: Taking): MaybePromise<LogWriter | null> {
    this.usedAt = performance.now();
    return this.holding.take(create, taking);
  }

  /**
   * Ends every accepted run and the session in one append. Resolves when they are stored.
   *
   * @throws GatewayError `OVERLOADED`: nothing has ended
   */
  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason).finally(() => {
      this.#closing = null;
      this.runs.advance();
    });
    return this.#closing;
  }

  /**
   * Closes the session, and drops everything that is kept of it in the same append.
   *
   * @throws GatewayError `OVERLOADED`: nothing has happened; `SESSION_NOT_FOUND` once a close in progress has ended it
   */
  async delete(): Promise<void> {
    if (!this.#closing) return this.close(DELETED);
    await this.#closing;
    throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
  }

  async #close(reason: string): Promise<void> {
    const erase = reason === DELETED ? newEpoch() : undefined;
    await this.runs.close(this.writer!, { reason, erase }, () => {
      this.holding.forget();
      // Followers here read the end of the log. The notice is for readers that lag behind.
      if (erase !== undefined) {
        this.#seenLast = erase;
        this.#notice = erase;
      }
    });
    this.watch();
    this.endCalls('The session was closed');
    this.#env.notify({ type: 'session:closed', sessionId: this.id, app: this.ref.app });
  }

  /** Gives the session up if nobody uses it, also after its appends are stored. @throws GatewayError `OVERLOADED` */
  async retire(): Promise<void> {
    const { writer, log } = this;
    await writer?.quiesce();
    if (this.idle && this.writer === writer && this.log === log) await this.holding.letGo();
  }

  /** Gives the session up as its gateway ends, after at most this many milliseconds, even if some events could not be stored. */
  async abandon(ms: number): Promise<void> {
    await this.holding.abandon(ms);
    // Runs that the store keeps are resumed or ended elsewhere, or at the next start.
    this.results.leave(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 }));
  }

  /** Ends everything that is open by a grant, at all gateways. */
  endGrant(grantId: string): void {
    this.#env.ungranted(grantId);
  }

  /** Reports an error in work for the session to the gateway's host. */
  report(error: unknown, what: string): void {
    this.#env.report(error, what, { sessionId: this.id, app: this.ref.app });
  }
}
