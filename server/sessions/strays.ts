import type { SharedStore } from '../stores/shared-store.js';
import type { SessionRef } from '../stores/store.js';

/** Sessions that are looked through at once. */
const PAGE = 1000;

/**
 * Sessions that the store says are held here and that this gateway does not know of: nobody else can take them while it lives. There are
 * none, unless something is wrong.
 */
export class Strays {
  /** Those that were not known when it was last looked: one may have been on its way to be held or let go. */
  #suspects: ReadonlySet<string> = new Set();
  #count = 0;

  /** How many there were when it was last looked. */
  get count(): number {
    return this.#count;
  }

  /** Looks through all that is held here. @returns those that were not known the last time either */
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
