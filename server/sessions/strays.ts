import type { SharedStore } from '../stores/shared-store.js';
import type { SessionRef } from '../stores/stored.js';

/** Sessions that are read at once. */
const PAGE = 1000;

/**
 * Finds sessions that the store says are held here and that this gateway does not know. No other gateway can take them while this one
 * lives. There are none, unless something is wrong.
 */
export class Strays {
  /** Strays of the last look, in which a session may have been on its way to be held or given up. */
  #suspects: ReadonlySet<string> = new Set();
  #count = 0;

  /** Number of strays at the last look. */
  get count(): number {
    return this.#count;
  }

  /** Looks through all sessions held here. @returns Those that were strays at the last look too */
  async find(
    shared: SharedStore,
    holder: string,
    isKnown: (ref: SessionRef) => boolean,
  ): Promise<readonly SessionRef[]> {
    const suspects = new Set<string>();
    const found: SessionRef[] = [];
    for (let after: SessionRef | undefined; ; ) {
      const page = await shared.held({ limit: PAGE, after, holder });
      for (const { holder: _, ...ref } of page) {
        if (isKnown(ref)) continue;
        const key = JSON.stringify([ref.scope, ref.app, ref.name]);
        suspects.add(key);
        if (this.#suspects.has(key)) found.push(ref);
      }
      if (page.length < PAGE) break;
      after = page.at(-1);
    }
    this.#suspects = suspects;
    this.#count = found.length;
    return found;
  }
}
