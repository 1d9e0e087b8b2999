import type { News } from './append.js';

/** Wakes the watcher of a session, perhaps with a batch that was appended. */
export type Wake = (news?: News) => void;

/** Told of the first and the last watch of a key. */
export interface WatchesOptions {
  /** A key has its first watch. */
  begun?(key: string): void;
  /** A key has lost its last watch. */
  ended?(key: string): void;
}

/** The watches of this process, by keys of sessions. Each call of `add` is a watch of its own, even with the same function. */
export class Watches {
  readonly #wakes = new Map<string, Set<Wake>>();
  readonly #options: WatchesOptions;

  constructor(options: WatchesOptions = {}) {
    this.#options = options;
  }

  get size(): number {
    return this.#wakes.size;
  }

  get keys(): readonly string[] {
    return [...this.#wakes.keys()];
  }

  has(key: string): boolean {
    return this.#wakes.has(key);
  }

  /** @returns Ends the watch */
  add(key: string, wake: Wake): () => void {
    const own: Wake = (news) => wake(news);
    let wakes = this.#wakes.get(key);
    if (wakes) wakes.add(own);
    else {
      wakes = new Set([own]);
      this.#wakes.set(key, wakes);
      this.#options.begun?.(key);
    }
    const all = wakes;
    return () => {
      if (!all.delete(own) || all.size > 0 || this.#wakes.get(key) !== all) return;
      this.#wakes.delete(key);
      this.#options.ended?.(key);
    };
  }

  wake(key: string, news?: News): void {
    const wakes = this.#wakes.get(key);
    if (wakes) for (const wake of wakes) wake(news);
  }

  wakeAll(): void {
    for (const key of this.#wakes.keys()) this.wake(key);
  }

  clear(): void {
    this.#wakes.clear();
  }
}
