import type { Store } from '../stores/store.js';
import type { SessionRecord, SessionRef } from '../stores/stored.js';

/** The number of sessions that one look at a scope remembers. */
const KEPT = 100;
const PAGE = 500;
/** Milliseconds after a look that found nothing until the next one. */
const LOOK_AGAIN_MS = 10_000;

export interface SpareEnvironment {
  readonly store: Pick<Store, 'list' | 'record'>;
  /** Whether nobody chose a session: its name was made for a single request. */
  isSpare(ref: SessionRef): boolean;
  /** Closes a session and drops its data. */
  discard(ref: SessionRef): Promise<void>;
}

/** Sessions that nobody chose. They make room where a scope has as many as it may have, the longest unused first. */
export class SpareSessions {
  readonly #env: SpareEnvironment;
  /** The finds of the last look at a scope, the longest unused last. */
  readonly #found = new Map<string, SessionRecord[]>();
  /** Scopes that had none, and since when. */
  readonly #none = new Map<string, number>();

  constructor(env: SpareEnvironment) {
    this.#env = env;
  }

  /** Drops the idle one of a scope that is unused for longest. False if there is none. */
  async makeRoom(scope: string): Promise<boolean> {
    for (let looks = 0; looks < 2; ) {
      const found = this.#found.get(scope) ?? [];
      const oldest = found.pop();
      if (!oldest) {
        this.#found.delete(scope);
        looks += 1;
        if (looks === 2 || !(await this.#look(scope))) return false;
      } else if (await this.#isUnused(oldest)) {
        await this.#env.discard(oldest.ref);
        return true;
      }
    }
    return false;
  }

  async #look(scope: string): Promise<boolean> {
    if (performance.now() - (this.#none.get(scope) ?? Number.NEGATIVE_INFINITY) < LOOK_AGAIN_MS) return false;
    this.#none.delete(scope);
    const { store } = this.#env;
    let found: SessionRecord[] = [];
    for (let place = await store.list(scope, { limit: PAGE }); ; ) {
      const idle = place.records.filter(
        ({ ref, activity }) => activity.status === 'idle' && this.#env.isSpare(ref),
      );
      found = [...found, ...idle].slice(-KEPT);
      if (!place.next) break;
      place = await store.list(scope, { limit: PAGE, before: place.next });
    }
    if (found.length > 0) this.#found.set(scope, found);
    else this.#none.set(scope, performance.now());
    return found.length > 0;
  }

  async #isUnused({ ref, epoch, updatedAt }: SessionRecord): Promise<boolean> {
    const now = await this.#env.store.record(ref);
    return (
      now?.epoch === epoch && !now.closed && now.updatedAt === updatedAt && now.activity.status === 'idle'
    );
  }
}
