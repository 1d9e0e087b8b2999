import type { News } from '../append.js';
import { keyOf } from '../ref-key.js';
import type { SessionRef } from '../stored.js';
import type { StoreLine } from './store-line.js';

type Wake = (news?: News) => void;

/** The watches of this process. Each session is watched once over the line, however many watches it has here. */
export class LineWatches {
  readonly #line: StoreLine;
  readonly #sessions = new Map<string, { readonly ref: SessionRef; readonly wakes: Set<Wake> }>();

  constructor(line: StoreLine) {
    this.#line = line;
  }

  watch({ scope, app, name }: SessionRef, wake: Wake): () => void {
    const ref = { scope, app, name };
    const key = keyOf(ref);
    // Wrap the function, because the same function may watch several times.
    const own: Wake = (news) => wake(news);
    let watched = this.#sessions.get(key);
    if (watched) watched.wakes.add(own);
    else {
      watched = { ref, wakes: new Set([own]) };
      this.#sessions.set(key, watched);
      this.#begin(ref);
    }
    const { wakes } = watched;
    return () => {
      if (!wakes.delete(own) || wakes.size > 0) return;
      this.#sessions.delete(key);
      this.#line.call('unwatch', [ref]).catch(() => {});
    };
  }

  wake(key: string, news?: News): void {
    for (const wake of this.#sessions.get(key)?.wakes ?? []) wake(news);
  }

  /** Called when the line stands again: wakes may have been missed. */
  stands(): void {
    for (const { ref } of this.#sessions.values()) this.#begin(ref);
  }

  clear(): void {
    this.#sessions.clear();
  }

  /** Wakes once the watch is set up, so that watchers look. If the line ends before, `stands` begins again. */
  #begin(ref: SessionRef): void {
    this.#line.call('watch', [ref]).then(
      () => this.wake(keyOf(ref)),
      () => {},
    );
  }
}
