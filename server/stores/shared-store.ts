import type { MaybePromise } from '../async/maybe-promise.js';
import type { SessionRef } from './stored.js';

/** One of the gateways that share a store. */
export interface Member {
  /** The member's name in the store. It differs from every other process's, even if that has the same gateway id. */
  readonly holder: string;
  /** Takes a message that another member sent. */
  hear(message: string): void;
  /** Called when the store could not be reached for a whole lease. The member can serve nobody until `lapsed`. */
  away(): void;
  /** Called when the store is reached again after the lease may have run out. Others may hold the member's sessions now. */
  lapsed(): void;
}

/** An open session that a member holds, as stored. */
export interface SessionHolder extends SessionRef {
  readonly holder: string;
}

/** A page of held sessions, each once, in an order of the store. */
export interface HeldPage {
  readonly limit: number;
  /** The last session of the previous page. */
  readonly after?: SessionRef | undefined;
  /** Lists only the sessions of this holder. */
  readonly holder?: string | undefined;
}

/** The calls of a member, until it leaves. */
export interface Membership {
  /** The holders of all members that may be alive: all whose lease has not run out and that did not leave. */
  members(): MaybePromise<readonly string[]>;
  /**
   * Sends a message to a member. It arrives at most once, and may be lost even if this returns true.
   *
   * @returns false if no member listens under that name
   * @throws StoreError `UNKNOWN` if the message may have arrived
   */
  tell(holder: string, message: string): MaybePromise<boolean>;
  /** Gives up the lease. If the store cannot be reached, the lease runs out. */
  leave(): MaybePromise<void>;
}

/**
 * The part of a store that several gateways use at once. One of them holds a session at a time, and `acquire` answers `owned` to the others. Writes
 * are safe by the writer's term alone; a lease only tells when others may take a member's sessions.
 */
export interface SharedStore {
  /** How long a silent member counts as alive, in milliseconds. */
  readonly leaseMs: number;
  /**
   * How far the store's clock is ahead of this process's wall clock at present, in milliseconds; 0 until it is measured. It changes with the wall
   * clock when that is set: `Date.now() + skewMs` is the store's time at any moment.
   */
  readonly skewMs: number;
  join(member: Member): MaybePromise<Membership>;
  /** Open sessions with a holder, whether alive or dead. */
  held(page: HeldPage): MaybePromise<readonly SessionHolder[]>;
}
