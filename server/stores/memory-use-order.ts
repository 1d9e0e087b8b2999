import type { ListPlace } from './listing.js';
import type { MemorySession } from './memory-log.js';

/** Compares sessions by last use, the latest first. */
export function byUse(a: ListPlace, b: ListPlace): number {
  return b.updatedAt - a.updatedAt || b.ordinal - a.ordinal;
}

/** Sessions by their last use, the latest first. A linked list, so that a use and a page of a list cost the same however many there are. */
export class UseOrder implements Iterable<MemorySession> {
  #latest: MemorySession | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(session: MemorySession): void {
    this.#size += 1;
    this.#place(session);
  }

  delete(session: MemorySession): void {
    if (!this.#has(session)) return;
    this.#size -= 1;
    this.#take(session);
  }

  /** Finds the place of a session anew, after a use. */
  used(session: MemorySession): void {
    if (session === this.#latest || !this.#has(session)) return;
    this.#take(session);
    this.#place(session);
  }

  *[Symbol.iterator](): Generator<MemorySession, void, undefined> {
    for (let session = this.#latest; session; session = session.usedBefore) yield session;
  }

  #has(session: MemorySession): boolean {
    return session.usedAfter !== null || session === this.#latest;
  }

  /** A session is used now, so its place is nearly always the first one. */
  #place(session: MemorySession): void {
    let after: MemorySession | null = null;
    let before = this.#latest;
    while (before && byUse(session, before) > 0) {
      after = before;
      before = before.usedBefore;
    }
    Object.assign(session, { usedAfter: after, usedBefore: before });
    if (before) before.usedAfter = session;
    if (after) after.usedBefore = session;
    else this.#latest = session;
  }

  #take(session: MemorySession): void {
    const { usedAfter: after, usedBefore: before } = session;
    if (before) before.usedAfter = after;
    if (after) after.usedBefore = before;
    else this.#latest = before;
    session.usedAfter = null;
    session.usedBefore = null;
  }
}
