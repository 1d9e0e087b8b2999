import { isGatewayError } from '../../shared/errors.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { FileDesk } from '../files/files.js';
import { asUnavailable } from '../log/unavailable.js';
import { homeOf, type RecordChange, type RecordHome, textOfHome } from '../stores/records.js';
import type { SessionRef, Store } from '../stores/store.js';
import type { SessionDirectory } from './directory.js';

/** Sessions looked up at once. */
const PAGE = 100;

/** Kind of the records of erasures under way. */
export const ERASURE = 'erasure';
/** Home of records that no scope has: the scope of a user is never empty. */
export const GATEWAYS: RecordHome = { scope: '' };
/** Id of the record of data that was dropped and is to be overwritten. */
const VACUUM = 'vacuum';

/** An erasure under way, as its record has it. */
interface BegunErasure {
  /** The process that works on it. */
  readonly by: string;
  /** Whether the store must leave no byte behind. */
  readonly vacuum: boolean;
}

/** A session, or all that is kept of a scope. */
export type Erasure = RecordHome;

/** The result of an erasure. */
export interface Erased {
  /** Sessions that were not empty. */
  readonly sessions: number;
  readonly files: number;
}

/** The targets and means of an erasure. */
export interface EraserEnvironment {
  readonly store: Store;
  readonly sessions: Pick<SessionDirectory, 'delete' | 'dropClosed'>;
  readonly files: Pick<FileDesk, 'erase'>;
  /** Id of this process on a shared store. */
  readonly holder: string;
  /** Whether the process that began an erasure is alive. Its erasures are left to it. */
  alive(holder: string): Promise<boolean>;
  report: Report;
}

/**
 * Drops everything that is kept of sessions or whole scopes, closed conversations and files included. Each erasure has a record until it is
 * complete, so that another process can finish it.
 */
export class Eraser {
  readonly #env: EraserEnvironment;
  #resuming: Promise<void> | null = null;
  /** Erasures that run here. */
  readonly #active = new Set<string>();

  constructor(env: EraserEnvironment) {
    this.#env = env;
  }

  /**
   * @param vacuum Whether the store must leave no byte behind, also if another process finishes the erasure.
   * @throws GatewayError `OVERLOADED`: the erasure is not complete yet, and will be continued
   */
  async erase(erasure: Erasure, vacuum: boolean): Promise<Erased> {
    await this.#change([this.#begun(textOfHome(erasure), vacuum)]);
    const erased = await this.#finish(erasure, vacuum);
    if (vacuum) await this.vacuum();
    return erased;
  }

  /** Overwrites what was dropped. */
  async vacuum(): Promise<void> {
    await asUnavailable(() => this.#env.store.vacuum?.());
    await this.#change([{ kind: ERASURE, id: VACUUM }]);
  }

  #begun(id: string, vacuum: boolean): RecordChange {
    const value: BegunErasure = { by: this.#env.holder, vacuum };
    return { kind: ERASURE, id, value: JSON.stringify(value) };
  }

  async #change(changes: readonly RecordChange[]): Promise<void> {
    await asUnavailable(() => this.#env.store.changeRecords(GATEWAYS, changes));
  }

  /** Continues erasures that were begun and not ended, and whose process is dead. */
  resume(): Promise<void> {
    this.#resuming ??= this.#resume().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async #resume(): Promise<void> {
    const { store, report } = this.#env;
    try {
      let isToVacuum = false;
      for (const { id, value } of await store.records({ home: GATEWAYS, kind: ERASURE, limit: 10_000 })) {
        const { by, vacuum } = JSON.parse(value) as BegunErasure;
        if (await this.#isUnderWay(id, by)) continue;
        await this.#change([this.#begun(id, vacuum)]);
        if (id !== VACUUM) await this.#finish(homeOf(id), vacuum);
        isToVacuum ||= vacuum;
      }
      if (isToVacuum) await this.vacuum();
    } catch (error) {
      report(error, 'erasing what was begun to be erased');
    }
  }

  /** Whether a living process works on it. */
  async #isUnderWay(id: string, by: string): Promise<boolean> {
    return this.#active.has(id) || (by !== this.#env.holder && (await this.#env.alive(by)));
  }

  async #finish(erasure: Erasure, vacuum: boolean): Promise<Erased> {
    const id = textOfHome(erasure);
    this.#active.add(id);
    try {
      const erased = await this.#drop(erasure);
      // The name of a person is not kept until everything is overwritten.
      await this.#change([{ kind: ERASURE, id }, ...(vacuum ? [this.#begun(VACUUM, true)] : [])]);
      return erased;
    } finally {
      this.#active.delete(id);
    }
  }

  async #drop(erasure: Erasure): Promise<Erased> {
    const { sessions, files } = this.#env;
    let count = 0;
    for await (const ref of this.#sessionsOf(erasure)) if (await this.#delete(ref)) count += 1;
    // Followers of the dropped log have read its end, or will receive a gap.
    for await (const ref of this.#sessionsOf(erasure)) await sessions.dropClosed(ref);
    if (erasure.app === undefined) await this.#dropRecords(erasure);
    return { sessions: count, files: await files.erase(erasure) };
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
