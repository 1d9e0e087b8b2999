import { isGatewayError } from '../../shared/errors.js';
import { startDeadline } from '../async/deadline.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { errand } from '../cluster/errands.js';
import type { Subscription } from '../delivery/subscription.js';
import type { LogBatch } from '../log/batch.js';
import type { SessionRef } from '../stores/stored.js';
import type { SessionEnvironment } from './environment.js';
import { perform } from './routing.js';
import type { Session } from './session.js';

/** Asks a gateway whether anybody there follows a session, or waits for its run. */
export const VIEWED = errand<SessionRef, { readonly watching: boolean; readonly any: boolean }>('viewed');

/** Ends a run when nobody has come back after this long. */
interface Desertion {
  readonly afterMs: number;
  end(): void;
}

/**
 * The subscriptions to a session's events, and the callers that wait for a run without following; here, and at other gateways as these
 * report them. The active run goes on without any, unless the app or the gateway asks otherwise.
 */
export class Viewers {
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #subscriptions = new Set<Subscription>();
  #waiting = 0;
  /** Cancels the pending desertion. */
  #stay: () => void = () => {};

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  /** Whether somebody follows the events here. */
  get watching(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Whether anybody here follows the events or waits for a run. */
  get any(): boolean {
    return this.watching || this.#waiting > 0;
  }

  attach(subscription: Subscription): void {
    this.#stay();
    this.#subscriptions.add(subscription);
    this.#session.viewersChanged();
  }

  /** @param left Whether the receiver went away, rather than had everything it wanted. */
  detach(subscription: Subscription, left: boolean): void {
    this.#subscriptions.delete(subscription);
    this.#leave(left);
  }

  /** Counts a caller that waits for a run's result without following its events. Call the returned function when it no longer waits. */
  wait(): (left: boolean) => void {
    this.#stay();
    this.#waiting += 1;
    return (left) => {
      this.#waiting -= 1;
      this.#leave(left);
    };
  }

  #leave(left: boolean): void {
    if (left) this.leftElsewhere();
    this.#session.viewersChanged();
  }

  /** Called when the last viewer at another gateway left. */
  leftElsewhere(): void {
    if (this.any) return;
    this.#stay();
    const desertion = this.#desert();
    if (desertion)
      this.#stay = startDeadline(desertion.afterMs, () => {
        if (!this.any) desertion.end();
      });
  }

  /** Tells subscriptions that there may be more to read. `batch` is the batch just committed, if any. */
  wake(batch?: LogBatch): void {
    for (const subscription of this.#subscriptions) subscription.pump(batch);
  }

  /** Tells subscriptions that their log can't be served here any more. */
  interrupt(): void {
    for (const subscription of [...this.#subscriptions]) subscription.interrupt();
  }

  /** Whether somebody follows the events, here or at another gateway. */
  watchedAnywhere(): MaybePromise<boolean> {
    return this.watching || this.#seenElsewhere('watching');
  }

  /** Whether another gateway reports a viewer, or did not answer. */
  async #seenElsewhere(how: 'watching' | 'any'): Promise<boolean> {
    const seen = await this.#env.cluster.errands.askAll(VIEWED, this.#session.ref);
    return seen.some((at) => at === undefined || at[how]);
  }

  /** The end of the active run after its last viewer left; null if the run goes on. */
  #desert(): Desertion | null {
    const { ref, held } = this.#session;
    const { onDisconnect = this.#env.onDisconnect } = this.#env.app(ref.app);
    if (onDisconnect !== 'abort') return null;
    if (!held) void this.#tellDeserted();
    const running = held?.runs.running ?? [];
    if (running.length === 0) return null;
    const ending = { stopReason: 'aborted', reason: 'disconnected' } as const;
    const end = (): void => {
      for (const run of running) void held!.runs.end(run, ending);
    };
    return { afterMs: this.#env.limits.disconnectGraceMs, end: () => void this.#endUnseen(end) };
  }

  async #endUnseen(end: () => void): Promise<void> {
    try {
      if (!(await this.#seenElsewhere('any')) && !this.any) end();
    } catch (error) {
      this.#session.report(error, `asking who follows session ${this.#session.id}`);
    }
  }

  /** Tells the holder that the last viewer here left. */
  async #tellDeserted(): Promise<void> {
    const session = this.#session;
    try {
      // A caller that waits for a run without following may have left the session unseen here.
      const log = await session.look();
      if (log?.activity.runId !== undefined) await perform(session, { type: 'deserted' });
    } catch (error) {
      if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return;
      session.report(error, `telling that nobody follows session ${session.id}`);
    }
  }
}
