import { isGatewayError } from '../../shared/errors.js';
import { startDeadline } from '../async/deadline.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { errand } from '../cluster/errands.js';
import type { Subscription } from '../delivery/subscription.js';
import type { LogBatch } from '../log/batch.js';
import { asUnavailable } from '../log/unavailable.js';
import type { SessionRef } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { perform } from './routing.js';
import type { Session } from './session.js';

/** Whether somebody at another gateway follows a session, or waits there for its run. */
export const VIEWED = errand<SessionRef, { readonly watching: boolean; readonly any: boolean }>('viewed');

/** What is to happen when nobody has come back for so long. */
interface Desertion {
  readonly afterMs: number;
  end(): void;
}

/**
 * Who follows a session's events, and who waits for a run without following: here, and at other gateways as far as those say. The
 * active run goes on when nobody does, unless the app or the gateway asked otherwise.
 */
export class Viewers {
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #subscriptions = new Set<Subscription>();
  #waiting = 0;
  /** Takes back that the session is deserted. */
  #stay: () => void = () => {};

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  /** Whether somebody follows the events here. */
  get watching(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Whether somebody here follows them or waits for a run. */
  get any(): boolean {
    return this.watching || this.#waiting > 0;
  }

  attach(subscription: Subscription): void {
    this.#stay();
    this.#subscriptions.add(subscription);
    this.#session.viewersChanged();
  }

  /** @param left Whether its receiver went away, rather than that it has all it wanted. */
  detach(subscription: Subscription, left: boolean): void {
    this.#subscriptions.delete(subscription);
    this.#leave(left);
  }

  /** Counts somebody who waits for a run's result without following its events. Call what it returns when they no longer do. */
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

  /** The last one at another gateway left. */
  leftElsewhere(): void {
    if (this.any) return;
    this.#stay();
    const desertion = this.#desert();
    if (desertion)
      this.#stay = startDeadline(desertion.afterMs, () => {
        if (!this.any) desertion.end();
      });
  }

  /** There may be more to read. `batch` is what was just committed, if that is why. */
  wake(batch?: LogBatch): void {
    for (const subscription of this.#subscriptions) subscription.pump(batch);
  }

  /** Their log can't be served here any more. */
  interrupt(): void {
    for (const subscription of [...this.#subscriptions]) subscription.interrupt();
  }

  /** Whether somebody follows the events, here or at another gateway. */
  watchedAnywhere(): MaybePromise<boolean> {
    return this.watching || this.#seenElsewhere('watching');
  }

  /** Whether other gateways say that somebody is there; also where one of them did not answer. */
  async #seenElsewhere(how: 'watching' | 'any'): Promise<boolean> {
    const { cluster } = this.#env;
    const { ref, writer } = this.#session;
    // Who holds it does not follow it, and all others do that have viewers.
    if (writer && (await asUnavailable(() => cluster.shared.followers(ref))) === 0) return false;
    const seen = await cluster.errands.askAll(VIEWED, ref);
    return seen.some((at) => at === undefined || at[how]);
  }

  /** The last one has left. What is to become of the run; null where that changes nothing. */
  #desert(): Desertion | null {
    const { runs, ref, writer } = this.#session;
    const { active } = runs;
    const { onDisconnect = this.#env.onDisconnect } = this.#env.app(ref.app);
    if (onDisconnect !== 'abort') return null;
    if (!active) {
      if (!writer) void this.#tellDeserted();
      return null;
    }
    const ending = { stopReason: 'aborted', reason: 'disconnected' } as const;
    const end = (): void => void runs.end(active, ending);
    return { afterMs: this.#env.disconnectGraceMs, end: () => void this.#endUnseen(end) };
  }

  async #endUnseen(end: () => void): Promise<void> {
    try {
      if (!(await this.#seenElsewhere('any')) && !this.any) end();
    } catch (error) {
      this.#session.report(error, `looking who follows session ${this.#session.id}`);
    }
  }

  /** Tells the gateway where its run is that the last viewer left here. */
  async #tellDeserted(): Promise<void> {
    const session = this.#session;
    try {
      // Whoever waits for a run without following it may have seen nothing of it here.
      const log = await session.look();
      if (log?.activity.runId !== undefined) await perform(session, { type: 'deserted' });
    } catch (error) {
      if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return;
      session.report(error, `telling that nobody follows session ${session.id}`);
    }
  }
}
