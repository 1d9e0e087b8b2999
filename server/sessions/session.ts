import { GatewayError } from '../../shared/errors.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Subscribable, Subscription } from '../delivery/subscription.js';
import type { LogFacts } from '../diagnostics/log-facts.js';
import type { HeldSession } from '../held/held-session.js';
import { newEpoch } from '../ids.js';
import type { LogView } from '../log/log-view.js';
import { openLastLog, openNextLog, openPastLog } from '../log/past-log.js';
import type { ReadableLog } from '../log/readable-log.js';
import { asUnavailable } from '../log/unavailable.js';
import type { Store } from '../stores/store.js';
import { IDLE, type SessionRef } from '../stores/stored.js';
import type { Beginning, HoldOptions } from './acquisition.js';
import { DELETED } from './conversations.js';
import type { SessionEnvironment } from './environment.js';
import { Hold } from './hold.js';
import type { Life } from './life.js';
import { RunResults } from './run-results.js';
import { SessionCalls } from './session-calls.js';
import { SessionReader } from './session-reader.js';
import { Viewers } from './viewers.js';

/** One live session: its log as it is read here, its hold, and its followers. It outlives a close: the next send begins a new log. */
export class Session implements Subscribable {
  readonly ref: SessionRef;
  readonly id: string;
  readonly hold: Hold;
  readonly reader: SessionReader;
  readonly viewers: Viewers;
  readonly results: RunResults;
  #calls: SessionCalls | null = null;
  /** Time of the last use, for eviction; monotonic milliseconds. */
  usedAt = performance.now();
  readonly #env: SessionEnvironment;

  constructor(ref: SessionRef, env: SessionEnvironment) {
    this.ref = ref;
    this.#env = env;
    this.id = env.format(ref.app, ref.name);
    this.hold = new Hold(this, env);
    this.reader = new SessionReader(this, env);
    this.viewers = new Viewers(this, env);
    this.results = new RunResults(this, env);
  }

  get life(): Life {
    return this.hold.life;
  }

  /** The session as it is held here. */
  get held(): HeldSession | null {
    return this.life.held;
  }

  /** The view of the present log, once it was looked at. */
  get log(): LogView | null {
    return this.reader.view;
  }

  get openings(): number {
    return this.reader.openings;
  }

  /** The tool calls outside of runs. */
  get calls(): SessionCalls {
    this.#calls ??= new SessionCalls(this, this.#env);
    return this.#calls;
  }

  /** Number of tool calls outside of runs. */
  get callsUnderWay(): number {
    return this.#calls?.size ?? 0;
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

  /** The work and the exports that features add. */
  get added(): Pick<SessionEnvironment, 'workers' | 'exporters' | 'erasing'> {
    return this.#env;
  }

  get idle(): boolean {
    return !this.held?.runs.busy && this.results.size === 0 && this.unfollowed;
  }

  /** Whether the session has no follower and no work under way here. Awaited results do not count: they come from the store. */
  get unfollowed(): boolean {
    const { name } = this.life.stage;
    const used = this.viewers.any || (this.#calls?.busy ?? false);
    return !used && name !== 'taking' && name !== 'closing';
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
    this.reader.watch();
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
    return this.reader.look();
  }

  /** Reads what others wrote, and checks whether the session is still held here. Null if nobody else can write. */
  refresh(): Promise<void> | null {
    return this.store.shared ? this.#refresh() : null;
  }

  async #refresh(): Promise<void> {
    await asUnavailable(() => this.hold.checkTerm());
    // Others may read events appended here before the store's answer arrives here.
    await this.held?.log.settled();
    await this.look();
  }

  /** Takes the session for writing: see `Hold.take`. @throws HeldElsewhere */
  take(create?: Beginning, taking?: HoldOptions): MaybePromise<HeldSession | null> {
    this.usedAt = performance.now();
    return this.hold.take(create, taking);
  }

  /**
   * Ends every accepted run and the session in one append. Resolves when they are stored.
   *
   * @throws GatewayError `OVERLOADED`: nothing has ended
   */
  close(reason: string): Promise<void> {
    const { stage } = this.life;
    return stage.name === 'closing' ? stage.done : this.#close(reason);
  }

  /**
   * Closes the session, and drops everything that is kept of it in the same append.
   *
   * @param isKnown Whether the host has been told of the session. It is not, of one that was begun to be deleted with what was before it
   * @throws GatewayError `OVERLOADED`: nothing has happened; `SESSION_NOT_FOUND` once a close in progress has ended it
   */
  async delete(isKnown = true): Promise<void> {
    const { stage } = this.life;
    if (stage.name !== 'closing') return this.#close(DELETED, isKnown);
    await stage.done;
    throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
  }

  async #close(reason: string, isKnown = true): Promise<void> {
    await this.hold.close(this.held!, { reason, ...(reason === DELETED && { erase: newEpoch() }) });
    this.reader.watch();
    this.endCalls('The session was closed');
    if (isKnown) this.#env.notify({ type: 'session:closed', sessionId: this.id, app: this.ref.app });
  }

  /** Gives the session up if nobody uses it, also after its appends are stored. @throws StoreError */
  async retire(): Promise<void> {
    const { held, log } = this;
    await held?.log.quiesce();
    if (this.idle && this.held === held && this.log === log) await this.hold.letGo();
  }

  /** Gives the session up as its gateway ends, after at most this many milliseconds, even if some events could not be stored. */
  async abandon(ms: number): Promise<void> {
    await this.hold.abandon(ms);
    // Runs that the store keeps are resumed or ended elsewhere, or at the next start.
    this.results.leave(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 }));
  }

  /** Tells the gateway's listeners of a custom event that could not be logged. @throws GatewayError `INVALID_PARAMS` */
  announce(name: string, payload: unknown): void {
    this.#env.checkPayload('events', name, payload);
    this.#env.notify({ type: 'custom', sessionId: this.id, name, payload });
  }

  /** Reports an error in work for the session to the gateway's host. */
  report(error: unknown, what: string): void {
    this.#env.report(error, what, this.facts);
  }

  /** The fields of the session for log lines. */
  get facts(): LogFacts {
    const { scope, app } = this.ref;
    return { sessionId: this.id, scope, app };
  }
}
