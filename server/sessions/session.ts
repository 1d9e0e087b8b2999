import { GatewayError } from '../../shared/errors.js';
import type { SessionStatus, SubscriptionInfo } from '../../shared/events.js';
import { startDeadline, within } from '../deadline.js';
import type { Subscribable, Subscription } from '../delivery/subscription.js';
import { newEpoch } from '../ids.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { type Acquired, type SessionRef, StoreError } from '../stores/store.js';
import type { LogBatch } from './batch.js';
import type { SessionEnvironment } from './environment.js';
import { SessionLog } from './log.js';
import { openLastLog, openNextLog, openPastLog } from './past-log.js';
import type { ReadableLog } from './readable-log.js';
import { OpenRuns } from './run-record.js';
import { SessionCalls } from './session-calls.js';
import { SessionRuns } from './session-runs.js';
import { unavailable } from './unavailable.js';

/** One live session: its log while it is held here, its runs, and who follows it. Outlives a close: the next send begins a new log. */
export class Session implements Subscribable {
  readonly ref: SessionRef;
  readonly id: string;
  readonly runs: SessionRuns;
  readonly calls: SessionCalls;
  log: SessionLog | null = null;
  openings = 0;
  /** When it was last used, for eviction; monotonic milliseconds. */
  usedAt = performance.now();
  readonly #env: SessionEnvironment;
  readonly #subscriptions = new Set<Subscription>();
  #opening: Promise<SessionLog | null> | null = null;
  #closing: Promise<void> | null = null;
  #waiting = 0;
  /** Takes back that the active run ends for want of viewers. */
  #deserted: () => void = () => {};

  constructor(ref: SessionRef, env: SessionEnvironment) {
    this.ref = ref;
    this.#env = env;
    this.id = env.format(ref.app, ref.name);
    this.runs = new SessionRuns(this, env);
    this.calls = new SessionCalls(this, env);
  }

  /** Whether a close is in progress. */
  get closing(): boolean {
    return this.#closing !== null;
  }

  /** Whether somebody follows its events. */
  get watched(): boolean {
    return this.#subscriptions.size > 0;
  }

  get idle(): boolean {
    const used = this.watched || this.#waiting > 0 || this.runs.busy || this.calls.size > 0;
    return !used && !this.#opening && !this.#closing;
  }

  get runStart(): number | null {
    return this.runs.active?.startAfter ?? null;
  }

  describe(): Pick<SubscriptionInfo, 'status' | 'runId' | 'queued'> {
    const { active } = this.runs;
    let status: SessionStatus = 'idle';
    if (this.runs.questions.size > 0) status = 'waiting';
    else if (this.runs.busy) status = 'running';
    return { status, ...(active && { runId: active.id }), queued: this.runs.queue.length };
  }

  attach(subscription: Subscription): void {
    this.#deserted();
    this.#subscriptions.add(subscription);
  }

  /** @param left Whether its receiver went away, rather than that it has all it wanted. */
  detach(subscription: Subscription, left: boolean): void {
    this.#subscriptions.delete(subscription);
    this.#leave(left);
  }

  /** Counts somebody who waits for a run's result without following its events. Call what it returns when they no longer do. */
  wait(): (left: boolean) => void {
    this.#deserted();
    this.#waiting += 1;
    return (left) => {
      this.#waiting -= 1;
      this.#leave(left);
    };
  }

  #leave(left: boolean): void {
    this.usedAt = performance.now();
    if (this.watched || this.#waiting > 0) return;
    if (left) this.#desert();
    if (!this.log) this.#env.unused(this.ref);
  }

  /** The last viewer left. Its run goes on, unless the app or the gateway asked otherwise. */
  #desert(): void {
    const { active } = this.runs;
    if (!active || (this.#env.app(this.ref.app).onDisconnect ?? this.#env.onDisconnect) !== 'abort') return;
    this.#deserted();
    this.#deserted = startDeadline(this.#env.disconnectGraceMs, () => {
      if (!this.watched && this.#waiting === 0)
        void this.runs.end(active, { stopReason: 'aborted', reason: 'disconnected' });
    });
  }

  pastLog(epoch: string): MaybePromise<ReadableLog | null> {
    return openPastLog(this.#env.store, this.ref, epoch);
  }

  lastLog(): MaybePromise<ReadableLog | null> {
    return openLastLog(this.#env.store, this.ref);
  }

  nextLog(after: string | null): MaybePromise<ReadableLog | null> {
    return openNextLog(this.#env.store, this.ref, { after, present: this.log });
  }

  /** Opens the log; with `create` an absent or closed session begins anew. Null when there is none. */
  open(create?: { readonly userId: string | undefined }): MaybePromise<SessionLog | null> {
    this.usedAt = performance.now();
    if (this.#closing) {
      // What only looks must not wait for a close that runs; what would begin anew is turned away.
      if (create) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
      return null;
    }
    if (this.log) return this.log;
    if (this.#opening) return this.#opening.then((log) => log ?? this.open(create));
    const failed = (error: unknown): never => {
      throw error instanceof StoreError ? unavailable(error) : error;
    };
    try {
      const opened = this.#acquire(create);
      if (!isPromise(opened)) return opened;
      this.#opening = opened.catch(failed).finally(() => {
        this.#opening = null;
      });
      return this.#opening;
    } catch (error) {
      return failed(error);
    }
  }

  #acquire(create?: { readonly userId: string | undefined }): MaybePromise<SessionLog | null> {
    const { store, holder } = this.#env;
    return andThen(store.acquire(this.ref, { holder }), (acquired) => {
      if (acquired.kind !== 'absent' || !create) return this.#adopt(acquired);
      return andThen(store.count(this.ref.scope), (count) => {
        if (count >= this.#env.sessionsPerUser) {
          throw new GatewayError({
            code: 'RATE_LIMITED',
            message: `A user can have ${this.#env.sessionsPerUser} open sessions; close one first`,
            retryAfterMs: 60_000,
          });
        }
        const { userId } = create;
        const anew = { epoch: newEpoch(), ...(userId !== undefined && { userId }) };
        return andThen(store.acquire(this.ref, { holder, create: anew }), (begun) => this.#adopt(begun));
      });
    });
  }

  #adopt(acquired: Acquired): MaybePromise<SessionLog | null> {
    if (acquired.kind === 'absent') return null;
    if (acquired.kind === 'owned') {
      throw new GatewayError({
        code: 'OVERLOADED',
        message: 'The session is held by another gateway',
        retryAfterMs: 1000,
      });
    }
    const { head, checkpoint, record, openRuns, created } = acquired;
    const opened = SessionLog.open(
      this.#env.store,
      { ref: { ...this.ref, epoch: head.epoch }, head, checkpoint },
      {
        retention: this.#env.retention,
        pageBytes: this.#env.pageBytes,
        now: this.#env.now,
        listener: {
          committed: (batch) => this.#wake(batch),
          broken: (error) => this.#lose(head.epoch, error),
          unavailable: (error) => this.#env.report(error, `the store cannot write session ${this.id} now`),
        },
      },
    );
    return andThen(opened, (log) => {
      this.log = log;
      this.openings += 1;
      this.#env.opened(this.ref);
      if (created) {
        const user = record.userId === undefined ? {} : { userId: record.userId };
        this.#env.notify({ type: 'session:created', sessionId: this.id, app: this.ref.app, ...user });
      } else {
        this.calls.recover(log);
        this.runs.recover(log, new OpenRuns(openRuns, record.userId));
      }
      this.#wake();
      return log;
    });
  }

  #wake(batch?: LogBatch): void {
    for (const subscription of this.#subscriptions) subscription.pump(batch);
  }

  /** The log can't be written here any more: whoever holds it now, or the next opening, ends its runs in it. */
  #lose(epoch: string, error: unknown): void {
    this.#env.report(error, `the log of session ${this.id} was lost`);
    const { log } = this;
    // It may be another one by now, of the conversation that followed.
    if (log && log.ref.epoch !== epoch) return;
    this.log = null;
    this.calls.endAll('The session was lost');
    this.runs.lose(log?.cursor ?? '');
    for (const subscription of [...this.#subscriptions]) subscription.interrupt();
  }

  /** @throws GatewayError `INVALID_PARAMS` when the payload does not fit the channel. */
  publish(channel: string, type: string, payload: unknown, runId?: string): void {
    this.#env.checkPayload('channels', channel, payload);
    this.log?.append({ type: 'channel', runId, ts: Date.now(), channel, event: { type, payload } });
  }

  /** The same for a client, who is told when it is stored. @throws GatewayError also `OVERLOADED` */
  async publishStored(channel: string, type: string, payload: unknown): Promise<void> {
    this.#env.checkPayload('channels', channel, payload);
    const draft = { type: 'channel', ts: Date.now(), channel, event: { type, payload } } as const;
    await this.log?.commit([draft], { refusable: true });
  }

  /** @throws GatewayError `INVALID_PARAMS` when the payload does not fit the event. */
  emitCustom(name: string, payload: unknown, runId?: string): void {
    this.#env.checkPayload('events', name, payload);
    this.log?.append({ type: 'custom', runId, ts: Date.now(), name, payload });
    this.#env.notify({ type: 'custom', sessionId: this.id, name, payload });
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
    const log = this.log!;
    await this.runs.close(log, reason, () => {
      this.log = null;
    });
    this.calls.endAll('The session was closed');
    this.#env.notify({ type: 'session:closed', sessionId: this.id, app: this.ref.app });
  }

  /** Gives the session up if nobody uses it, also not by the time what was appended is stored. @throws GatewayError `OVERLOADED` */
  async retire(): Promise<void> {
    const { log } = this;
    await log?.quiesce();
    if (this.idle && this.log === log) await this.#letGo();
  }

  /** Waits until what was appended is stored, then gives the session up. @throws GatewayError `OVERLOADED` when it can't be stored now */
  async release(): Promise<void> {
    await this.log?.quiesce();
    await this.#letGo();
  }

  async #letGo(): Promise<void> {
    const { log } = this;
    this.log = null;
    if (log) await this.#env.store.release(this.ref, log.term);
  }

  /** Gives the session up, even with what could not be stored within so many milliseconds. */
  async abandon(ms: number): Promise<void> {
    const { log } = this;
    const failed = (error: unknown): void =>
      this.#env.report(error, `session ${this.id} was given up with events that could not be stored`);
    const released = this.release().catch(failed);
    if (!(await within(released, ms))) failed(new StoreError('UNKNOWN', 'The store did not answer'));
    log?.abandon();
    this.log = null;
  }
}
