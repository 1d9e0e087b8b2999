import { isGatewayError } from '../../shared/errors.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { Files } from '../files/files.js';
import { asUnavailable } from '../log/unavailable.js';
import type { Erasure, SessionRef, Store } from '../stores/store.js';
import type { SessionDirectory } from './directory.js';

/** Sessions looked up at once. */
const PAGE = 100;

/** What an erasure has dropped. */
export interface Erased {
  /** Sessions that had anything in them. */
  readonly sessions: number;
  readonly files: number;
}

/** What is erased, and by what means. */
export interface ErasingEnvironment {
  readonly store: Store;
  readonly sessions: Pick<SessionDirectory, 'delete' | 'dropClosed'>;
  readonly files: Pick<Files, 'erase'>;
  report: Report;
}

/**
 * Drops all that is kept of sessions or whole scopes, closed conversations and files included. What was begun is noted in the store
 * first: where the process ends in between, the next one goes on.
 */
export class Erasing {
  readonly #env: ErasingEnvironment;
  #resuming: Promise<void> | null = null;
  /** What is being erased here. */
  readonly #active = new Set<string>();

  constructor(env: ErasingEnvironment) {
    this.#env = env;
  }

  /** @throws GatewayError `OVERLOADED`: it is not done yet, and will be gone on with */
  async erase(erasure: Erasure): Promise<Erased> {
    await asUnavailable(() => this.#env.store.beginErasure(erasure));
    return this.#finish(erasure);
  }

  /** Goes on with what was begun and not ended. */
  resume(): Promise<void> {
    this.#resuming ??= this.#resume().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async #resume(): Promise<void> {
    const { store, report } = this.#env;
    try {
      const left = (await store.erasures()).filter((erasure) => !this.#active.has(keyOf(erasure)));
      for (const erasure of left) await this.#finish(erasure);
      if (left.length > 0) await store.vacuum?.();
    } catch (error) {
      report(error, 'erasing what was begun to be erased');
    }
  }

  async #finish(erasure: Erasure): Promise<Erased> {
    const key = keyOf(erasure);
    this.#active.add(key);
    try {
      return await this.#drop(erasure);
    } finally {
      this.#active.delete(key);
    }
  }

  async #drop(erasure: Erasure): Promise<Erased> {
    const { store, sessions, files } = this.#env;
    let count = 0;
    for await (const ref of this.#sessionsOf(erasure)) if (await this.#delete(ref)) count += 1;
    // Those who follow what was there have been told, or will be told of a gap.
    for await (const ref of this.#sessionsOf(erasure)) await sessions.dropClosed(ref);
    const dropped = await files.erase(erasure);
    await asUnavailable(() => store.endErasure(erasure));
    return { sessions: count, files: dropped };
  }

  async *#sessionsOf(erasure: Erasure): AsyncGenerator<SessionRef> {
    const { store } = this.#env;
    if (erasure.app !== undefined) return yield erasure;
    for (let after: SessionRef | undefined; ; ) {
      const last = after;
      const page = await asUnavailable(() =>
        store.kept(erasure.scope, { limit: PAGE, ...(last && { after: last }) }),
      );
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1);
    }
  }

  /** Whether there was something. */
  async #delete(ref: SessionRef): Promise<boolean> {
    try {
      await this.#env.sessions.delete(ref);
      return true;
    } catch (error) {
      if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return false;
      throw error;
    }
  }
}

const keyOf = ({ scope, app, name }: Erasure): string => JSON.stringify([scope, app, name]);
