import { Watches } from '../watches.js';

/** The watches of this process, and which of them the server has not been told of. */
export class PostgresWatches extends Watches {
  #begun = new Set<string>();
  #ended = new Set<string>();

  /** @param changed Called when `changes` has something new. */
  constructor(changed: () => void) {
    const swap = (key: string, undone: Set<string>, done: Set<string>): void => {
      if (!undone.delete(key)) done.add(key);
      changed();
    };
    super({
      begun: (key) => swap(key, this.#ended, this.#begun),
      ended: (key) => swap(key, this.#begun, this.#ended),
    });
  }

  /** The sessions that have become watched or unwatched since the last call. */
  changes(): { readonly begun: readonly string[]; readonly ended: readonly string[] } {
    const changes = { begun: [...this.#begun], ended: [...this.#ended] };
    this.#begun = new Set();
    this.#ended = new Set();
    return changes;
  }
}
