import { GatewayError } from '../../shared/errors.js';
import { within } from '../async/deadline.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { GRANTS } from '../grants/grant-record.js';
import { storeTime } from '../stores/skew.js';
import type { HeldSession } from './held-session.js';

/** A grant by which somebody has worked here. */
interface KnownGrant {
  /** Time of the store's clock, in milliseconds since the epoch. */
  readonly expiresAt: number;
  isOver: boolean;
  /** Tries to end it that are under way. Nothing begins by it meanwhile. */
  ends: number;
  /** Work by it that is on its way. */
  works: number;
  /** Called when nothing is on its way any more. */
  idle: (() => void) | null;
}

const unused = (expiresAt: number): KnownGrant => ({
  expiresAt,
  isOver: false,
  ends: 0,
  works: 0,
  idle: null,
});

const gone = (): GatewayError => new GatewayError({ code: 'SESSION_NOT_FOUND' });

/**
 * The grants by which people work in a session while it is held here. A door has looked at the grant some time ago, perhaps at another gateway.
 * Here its end has a place in the log, behind which nothing is done by it: what is on its way ends before, and nothing begins meanwhile.
 */
export class HeldGrants {
  readonly #held: HeldSession;
  readonly #known = new Map<string, KnownGrant>();

  constructor(held: HeldSession) {
    this.#held = held;
  }

  /** Does work by a grant. @throws GatewayError `SESSION_NOT_FOUND` if the grant is over, `OVERLOADED` */
  during<Result>(grantId: string, work: () => MaybePromise<Result>): MaybePromise<Result> {
    const known = this.#known.get(grantId);
    return known ? this.#do(known, work) : this.#find(grantId).then((grant) => this.#do(grant, work));
  }

  #do<Result>(grant: KnownGrant, work: () => MaybePromise<Result>): MaybePromise<Result> {
    if (this.#isOver(grant)) throw gone();
    const over = (): void => {
      grant.works -= 1;
      if (grant.works === 0) grant.idle?.();
    };
    grant.works += 1;
    try {
      const done = work();
      if (isPromise(done)) return done.finally(over);
      over();
      return done;
    } catch (error) {
      over();
      throw error;
    }
  }

  /** @throws GatewayError `SESSION_NOT_FOUND` if the grant is over, `OVERLOADED` */
  async assertGood(grantId: string): Promise<void> {
    if (this.#isOver(await this.#find(grantId))) throw gone();
  }

  /**
   * Has nothing more begin by a grant, and waits for what is on its way, for `limits.guardMs` at most: the app's own checks of an answer may
   * hang. Call the returned function with whether the grant has ended.
   */
  async end(grantId: string): Promise<(hasEnded: boolean) => void> {
    const grant = this.#known.get(grantId) ?? unused(Number.POSITIVE_INFINITY);
    grant.ends += 1;
    this.#known.set(grantId, grant);
    if (grant.works > 0) {
      const { idle: other } = grant;
      const idle = new Promise<void>((resolve) => {
        grant.idle = () => {
          other?.();
          resolve();
        };
      });
      await within(idle, this.#held.env.limits.guardMs);
    }
    return (hasEnded) => {
      grant.ends -= 1;
      grant.isOver ||= hasEnded;
      // There may be no such grant, and anybody may name many.
      if (!grant.isOver && grant.ends === 0 && grant.works === 0) this.#known.delete(grantId);
    };
  }

  #isOver({ isOver, ends, expiresAt }: KnownGrant): boolean {
    return isOver || ends > 0 || expiresAt <= storeTime(this.#held.store);
  }

  async #find(grantId: string): Promise<KnownGrant> {
    const known = this.#known.get(grantId);
    if (known) return known;
    const { log, store } = this.#held;
    const kept = await GRANTS.one(store, log.ref, grantId);
    if (!kept) throw gone();
    const { expiresAt = Number.POSITIVE_INFINITY } = kept.value.grant;
    // It may have become known meanwhile, and be over.
    const found = this.#known.get(grantId) ?? unused(expiresAt);
    this.#known.set(grantId, found);
    return found;
  }
}
