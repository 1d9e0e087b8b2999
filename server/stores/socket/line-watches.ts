import type { News } from '../append.js';
import { keyOf } from '../ref-key.js';
import type { SessionRef } from '../stored.js';
import { type Wake, Watches } from '../watches.js';
import type { StoreLine } from './store-line.js';

/** The watches of this process. Each session is watched once over the line, however many watches it has here. */
export class LineWatches {
  readonly #line: StoreLine;
  readonly #refs = new Map<string, SessionRef>();
  readonly #watches = new Watches({
    begun: (key) => this.#begin(key),
    ended: (key) => {
      const ref = this.#refs.get(key);
      this.#refs.delete(key);
      this.#line.call('unwatch', [ref]).catch(() => {});
    },
  });

  constructor(line: StoreLine) {
    this.#line = line;
  }

  watch({ scope, app, name }: SessionRef, wake: Wake): () => void {
    const ref = { scope, app, name };
    const key = keyOf(ref);
    this.#refs.set(key, ref);
    return this.#watches.add(key, wake);
  }

  wake(key: string, news?: News): void {
    this.#watches.wake(key, news);
  }

  /** Called when the line stands again: wakes may have been missed. */
  stands(): void {
    for (const key of this.#watches.keys) this.#begin(key);
  }

  clear(): void {
    this.#watches.clear();
  }

  /** Wakes once the watch is set up, so that watchers look. If the line ends before, `stands` begins again. */
  #begin(key: string): void {
    this.#line.call('watch', [this.#refs.get(key)]).then(
      () => this.wake(key),
      () => {},
    );
  }
}
