import { isGatewayError } from '../../shared/errors.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { Files } from '../files/files.js';
import { asUnavailable } from '../log/unavailable.js';
import type { BegunErasure, Erasure, SessionRef, Store } from '../stores/store.js';
import type { SessionDirectory } from './directory.js';

/** Sessions looked up at once. */
const PAGE = 100;

/** The result of an erasure. */
export interface Erased {
  /** Sessions that were not empty. */
  readonly sessions: number;
  readonly files: number;
}

/** The targets and means of an erasure. */
export interface ErasingEnvironment {
  readonly store: Store;
  readonly sessions: Pick<SessionDirectory, 'delete' | 'dropClosed'>;
  readonly files: Pick<Files, 'erase'>;
  /** Id of this process on a shared store. */
  readonly holder: string;
  /** Whether the process that began an erasure is alive. Its erasures are left to it. */
  alive(holder: string): Promise<boolean>;
  report: Report;
}

/**
 * Drops everything that is kept of sessions or whole scopes, closed conversations and files included. Each erasure is noted in the store
 * first, so that another process can finish it.
 */
export class Erasing {
  readonly #env: ErasingEnvironment;
  #resuming: Promise<void> | null = null;
  /** Erasures that run here. */
  readonly #active = new Set<string>();

  constructor(env: ErasingEnvironment) {
    this.#env = env;
  }

  /**
   * @param vacuum Whether the store must leave no byte behind, also if another process finishes the erasure.
   * @throws GatewayError `OVERLOADED`: the erasure is not complete yet, and will be continued
   */
  async erase(erasure: Erasure, vacuum: boolean): Promise<Erased> {
    const { store, holder: by } = this.#env;
    await asUnavailable(() => store.beginErasure({ erasure, by, vacuum }));
    const erased = await this.#finish(erasure);
    if (vacuum) await this.vacuum();
    return erased;
  }

  async vacuum(): Promise<void> {
    await asUnavailable(() => this.#env.store.vacuum?.());
  }

  /** Continues erasures that were begun and not ended, and whose process is dead. */
  resume(): Promise<void> {
    this.#resuming ??= this.#resume().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async #resume(): Promise<void> {
    const { store, holder, report } = this.#env;
    try {
      let isToVacuum = false;
      for (const begun of await store.erasures()) {
        if (await this.#isUnderWay(begun)) continue;
        await store.beginErasure({ ...begun, by: holder });
        await this.#finish(begun.erasure);
        isToVacuum ||= begun.vacuum;
      }
      if (isToVacuum) await this.vacuum();
    } catch (error) {
      report(error, 'erasing what was begun to be erased');
    }
  }

  /** Whether a living process works on it. */
  async #isUnderWay({ erasure, by }: BegunErasure): Promise<boolean> {
    if (this.#active.has(keyOf(erasure))) return true;
    return by !== this.#env.holder && (await this.#env.alive(by));
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
    // Followers of the dropped log have read its end, or will receive a gap.
    for await (const ref of this.#sessionsOf(erasure)) await sessions.dropClosed(ref);
    if (erasure.app === undefined) await this.#dropRecords(erasure);
    const dropped = await files.erase(erasure);
    await asUnavailable(() => store.endErasure(erasure));
    return { sessions: count, files: dropped };
  }

  /** Drops the records of a scope. Those of sessions go with the sessions. */
  async #dropRecords(home: Erasure): Promise<void> {
    const { store } = this.#env;
    for (;;) {
      const page = await asUnavailable(() => store.records({ home, limit: PAGE }));
      if (page.length > 0)
        await asUnavailable(() =>
          store.changeRecords(
            home,
            page.map(({ kind, id }) => ({ kind, id })),
          ),
        );
      if (page.length < PAGE) return;
    }
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

  /** Whether the session had anything to delete. */
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
