/** Who hears here of appends, by the keys of sessions. */
export class Watches {
  readonly #wakes = new Map<string, Set<() => void>>();
  readonly #changed: () => void;
  #begun = new Set<string>();
  #ended = new Set<string>();

  /** @param changed There is something for `changes`. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get keys(): readonly string[] {
    return [...this.#wakes.keys()];
  }

  add(key: string, wake: () => void): () => void {
    const known = this.#wakes.get(key);
    const wakes = known ?? new Set();
    // Each call is a watch of its own, also with the same function.
    const own = (): void => wake();
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

  /** Which sessions are watched, and are not any more, since it was asked last. */
  changes(): { readonly begun: readonly string[]; readonly ended: readonly string[] } {
    const changes = { begun: [...this.#begun], ended: [...this.#ended] };
    this.#begun = new Set();
    this.#ended = new Set();
    return changes;
  }

  wake(key: string): void {
    for (const wake of this.#wakes.get(key) ?? []) wake();
  }

  wakeAll(): void {
    for (const key of this.keys) this.wake(key);
  }
}
