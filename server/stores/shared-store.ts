import type { MaybePromise } from '../async/maybe-promise.js';
import type { SessionRef } from './store.js';

/** A gateway among those that use a store. */
export interface Member {
  /** By which the store knows it: other than any other process's, also of one with the same gateway id. */
  readonly holder: string;
  /** Takes a message that another member sent. */
  hear(message: string): void;
  /** The store was not reached for a lease, though it was tried: nobody can be served here until `lapsed`. */
  away(): void;
  /** The store is reached, and it may have passed for dead for a while: what it held, another one may hold now. */
  lapsed(): void;
}

/** A session that is open and held, as the store has it. */
export interface HeldSession extends SessionRef {
  readonly holder: string;
}

/** Which of them are listed, each once, in an order of the store's. */
export interface HeldPage {
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: SessionRef | undefined;
  /** Those of one holder. */
  readonly holder?: string | undefined;
}

/** What a member may do while it is one. */
export interface Membership {
  /** Whether a holder may be alive: false only of one that let its lease run out, or left. */
  alive(holder: string): MaybePromise<boolean>;
  /** The holders that are alive. */
  members(): MaybePromise<readonly string[]>;
  /**
   * Sends a message. It may be lost, also where this says true; it comes at most once.
   *
   * @returns false where nobody listens
   * @throws StoreError `UNKNOWN` where it may have come
   */
  tell(holder: string, message: string): MaybePromise<boolean>;
  /** Gives up the lease. Where the store cannot be told, it runs out. */
  leave(): MaybePromise<void>;
}

/**
 * The part of a store that several gateways use at once. Sessions are then held by one of them at a time: `acquire` answers `owned` to
 * the others. Safety is the term of the writer alone; a lease only tells when somebody else may take what a member held.
 */
export interface SharedStore {
  /** How long a member passes for alive that is not heard of, in milliseconds. */
  readonly leaseMs: number;
  /** By how much the store's clock is ahead of this process's, in milliseconds, as it was measured last; 0 until then. */
  readonly skewMs: number;
  join(member: Member): MaybePromise<Membership>;
  /**
   * Keeps a note for all members: what a door has to know of a client that may come to another one next.
   *
   * @param options.ttlMs It is forgotten after so many milliseconds.
   * @param options.once It is kept only where there is none of this name. @default false: it is replaced
   * @returns Whether it was kept. It can be read by all once this is there.
   */
  put(name: string, value: string, options: NoteOptions): MaybePromise<boolean>;
  /** A note, or null where there is none. */
  get(name: string): MaybePromise<string | null>;
  /** Forgets a note. */
  drop(name: string): MaybePromise<void>;
  /** How many members watch a session, this one among them. */
  followers(ref: SessionRef): MaybePromise<number>;
  /** Sessions that are open and that somebody holds, alive or dead. */
  held(page: HeldPage): MaybePromise<readonly HeldSession[]>;
}

/** The notes of all members. */
export type Notes = Pick<SharedStore, 'put' | 'get' | 'drop'>;

/** How a note is kept. */
export interface NoteOptions {
  readonly ttlMs: number;
  readonly once?: boolean;
}
