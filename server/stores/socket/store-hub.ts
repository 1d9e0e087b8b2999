import { setTimeout as delay } from 'node:timers/promises';
import { andThen, isPromise, type MaybePromise } from '../../async/maybe-promise.js';
import { type AppendOptions, type AppendResult, type EventRecord, isPlain, type News } from '../append.js';
import { place } from '../placed.js';
import { keyOf } from '../ref-key.js';
import type { HeldPage, SessionHolder } from '../shared-store.js';
import type { Acquired, AcquireOptions, Store } from '../store.js';
import type { LogRef, SessionRef } from '../stored.js';

/** How long former holders have to come back after a start with unfinished work, before others can take it, in milliseconds. */
const SETTLE_MS = 1000;
/** Leases after which a silent member is forgotten. */
const FORGET_LEASES = 20;
/** Checks per lease whether the hub itself stood still. */
const LOOKS = 4;

/** The hub's line to a process that uses the store. */
export interface Peer {
  /** Sends a message to a member in that process. */
  mail(holder: string, message: string): void;
  wake(key: string, news: News | undefined): void;
}

interface HubLease {
  peer: Peer | null;
  heardAt: number;
  /** Whether the member was silent for a lease, and has not been told. */
  hasLapsed: boolean;
}

interface Held {
  readonly ref: SessionRef;
  readonly holder: string;
  /** 0 while the session is being taken. */
  term: number;
}

/** The shared part of one process's store: holders, leases, mail and watches. Kept in memory, because terms alone make sessions safe. */
export class StoreHub {
  readonly leaseMs: number;
  readonly #store: Store;
  readonly #leases = new Map<string, HubLease>();
  readonly #held = new Map<string, Held>();
  readonly #watches = new Map<string, Set<Peer>>();
  /** Pending while former holders may come back; then null. */
  #settling: Promise<void> | null;
  readonly #looking: NodeJS.Timeout;
  #lookedAt = performance.now();
  /** Nobody is judged dead before this time, because the hub stood still and has not yet read what arrived meanwhile. */
  #judgesAt = 0;

  constructor(store: Store, leaseMs: number) {
    this.#store = store;
    this.leaseMs = leaseMs;
    this.#settling = this.#settle().finally(() => {
      this.#settling = null;
    });
    this.#looking = setInterval(() => this.#look(), leaseMs / LOOKS).unref();
  }

  close(): void {
    clearInterval(this.#looking);
  }

  /** The calls that the hub answers itself. All others go to the store. */
  readonly own = {
    acquire: (_: Peer, ref: SessionRef, options: AcquireOptions) =>
      options.again ? this.#acquire(ref, options) : this.#settled(() => this.#acquire(ref, options)),
    release: (_: Peer, ref: SessionRef, term: number) => this.#release(ref, term),
    append: (_: Peer, log: LogRef, events: readonly EventRecord[], options: AppendOptions) =>
      this.#append(log, events, options),
    remove: (_: Peer, ref: SessionRef) => andThen(this.#store.remove(ref), () => this.#wake(keyOf(ref))),
    unfinished: () => this.#settled(() => this.#unfinished()),
    beat: (peer: Peer, holder: string) => this.#beat(peer, holder),
    members: () => this.#settled(() => [...this.#leases.keys()].filter((holder) => this.#alive(holder))),
    tell: (_: Peer, holder: string, message: string) => {
      const peer = this.#leases.get(holder)?.peer;
      peer?.mail(holder, message);
      return peer != null;
    },
    leave: (_: Peer, holder: string) => void this.#leases.delete(holder),
    watch: (peer: Peer, ref: SessionRef) => {
      const key = keyOf(ref);
      this.#watches.set(key, (this.#watches.get(key) ?? new Set()).add(peer));
    },
    unwatch: (peer: Peer, ref: SessionRef) => this.#unwatch(peer, keyOf(ref)),
    held: (_: Peer, page: HeldPage) => this.#heldIn(page),
  };

  /** Notes a sign of life of a process and thereby of its members. */
  heard(peer: Peer): void {
    const now = performance.now();
    for (const lease of this.#leases.values()) {
      if (lease.peer !== peer) continue;
      lease.hasLapsed ||= now - lease.heardAt >= this.leaseMs;
      lease.heardAt = now;
    }
  }

  /** Called when the line of a process ended. @returns The members of that process */
  left(peer: Peer): readonly string[] {
    for (const key of [...this.#watches.keys()]) this.#unwatch(peer, key);
    const members: string[] = [];
    for (const [holder, lease] of this.#leases) {
      if (lease.peer !== peer) continue;
      lease.peer = null;
      members.push(holder);
    }
    return members;
  }

  /** Declares a member dead, because its process has ended. */
  bury(holder: string): void {
    if (this.#leases.get(holder)?.peer === null) this.#leases.delete(holder);
  }

  /** Whether a member lost its line and may come back. */
  isMissed(holder: string): boolean {
    return this.#leases.get(holder)?.peer === null;
  }

  async #settle(): Promise<void> {
    const left = await this.#store.unfinished();
    if (left.length > 0) await delay(Math.min(SETTLE_MS, this.leaseMs), undefined, { ref: false });
  }

  #settled<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return this.#settling ? this.#settling.then(work) : work();
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt > (2 * this.leaseMs) / LOOKS) this.#judgesAt = now + this.leaseMs;
    this.#lookedAt = now;
    for (const [holder, { peer, heardAt }] of this.#leases)
      if (!peer && now - heardAt > FORGET_LEASES * this.leaseMs) this.#leases.delete(holder);
  }

  #alive(holder: string): boolean {
    const lease = this.#leases.get(holder);
    const now = performance.now();
    return lease !== undefined && (now < this.#judgesAt || now - lease.heardAt < this.leaseMs);
  }

  /** Renews a lease. Returns whether others may have taken the member's sessions. */
  #beat(peer: Peer, holder: string): boolean {
    const lease = this.#leases.get(holder);
    this.#leases.set(holder, { peer, heardAt: performance.now(), hasLapsed: false });
    return lease === undefined || lease.hasLapsed || performance.now() - lease.heardAt >= this.leaseMs;
  }

  #acquire(ref: SessionRef, options: AcquireOptions): MaybePromise<Acquired> {
    const key = keyOf(ref);
    const before = this.#held.get(key);
    const { holder, from } = options;
    if (before && before.holder !== holder && before.holder !== from)
      return { kind: 'owned', holder: before.holder };
    // Before the store answers, so that nobody else takes the session meanwhile.
    const { scope, app, name } = ref;
    const taken: Held = { ref: { scope, app, name }, holder, term: before?.term ?? 0 };
    this.#held.set(key, taken);
    const back = (): void => {
      if (this.#held.get(key) !== taken) return;
      if (before) this.#held.set(key, before);
      else this.#held.delete(key);
    };
    const answered = (acquired: Acquired): Acquired => {
      if (acquired.kind === 'acquired') taken.term = acquired.head.term;
      else back();
      return acquired;
    };
    const failed = (error: unknown): never => {
      back();
      throw error;
    };
    try {
      const acquired = this.#store.acquire(ref, options);
      return isPromise(acquired) ? acquired.then(answered, failed) : answered(acquired);
    } catch (error) {
      return failed(error);
    }
  }

  #release(ref: SessionRef, term: number): MaybePromise<void> {
    const key = keyOf(ref);
    return andThen(this.#store.release(ref, term), () => {
      if (this.#held.get(key)?.term === term) this.#held.delete(key);
    });
  }

  #append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): MaybePromise<AppendResult> {
    return andThen(this.#store.append(log, events, options), (result) => {
      const { epoch, first, duplicate, stale } = result;
      if (duplicate || stale) return result;
      const key = keyOf(log);
      if (options.close || options.erase !== undefined) this.#held.delete(key);
      if (!this.#watches.has(key)) return result;
      place(events, first, options.term);
      this.#wake(key, isPlain(options) && events.length > 0 ? { epoch, events } : undefined);
      return result;
    });
  }

  async #unfinished(): Promise<readonly (SessionRef & { readonly from: string })[]> {
    const found = await this.#store.unfinished();
    return found
      .map((ref) => ({ ...ref, from: this.#held.get(keyOf(ref))?.holder ?? '' }))
      .filter(({ from }) => !this.#alive(from));
  }

  #heldIn({ limit, after, holder }: HeldPage): readonly SessionHolder[] {
    const last = after ? keyOf(after) : '';
    return [...this.#held]
      .filter(([key, held]) => key > last && (holder === undefined || held.holder === holder))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([, held]) => ({ ...held.ref, holder: held.holder }));
  }

  #wake(key: string, news?: News): void {
    for (const peer of this.#watches.get(key) ?? []) peer.wake(key, news);
  }

  #unwatch(peer: Peer, key: string): void {
    const peers = this.#watches.get(key);
    if (peers?.delete(peer) && peers.size === 0) this.#watches.delete(key);
  }
}
