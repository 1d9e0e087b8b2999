import type { News } from '../append.js';

type PostgresWake = (news?: News) => void;

/** Callbacks of this process for appends, by the keys of sessions. */
export class PostgresWatches {
  readonly #wakes = new Map<string, Set<PostgresWake>>();
  readonly #changed: () => void;
  #begun = new Set<string>();
  #ended = new Set<string>();

  /** @param changed Called when `changes` has something new. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get keys(): readonly string[] {
    return [...this.#wakes.keys()];
  }

  add(key: string, wake: PostgresWake): () => void {
    const known = this.#wakes.get(key);
    const wakes = known ?? new Set<PostgresWake>();
    // Each call is its own watch, even with the same function.
    const own: PostgresWake = (news) => wake(news);
    wakes.add(own);
    if (!known) {
      this.#wakes.set(key, wakes);
      if (!this.#ended.delete(key)) this.#begun.add(key);
      this.#changed();
    }
    return () => {
      if (!wakes.delete(own) || wakes.size > 0) return;
      this.#wakes.delete(key);
      if (!this.#begun.delete(key)) this.#ended.add(key);
      this.#changed();
    };
  }

  /** The sessions that have become watched or unwatched since the last call. */
  changes(): { readonly begun: readonly string[]; readonly ended: readonly string[] } {
    const changes = { begun: [...this.#begun], ended: [...this.#ended] };
    this.#begun = new Set();
    this.#ended = new Set();
    return changes;
  }

  wake(key: string, news?: News): void {
    for (const wake of this.#wakes.get(key) ?? []) wake(news);
  }
}
