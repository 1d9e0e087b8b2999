import { isGatewayError } from '../../shared/errors.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { GatewayFiles } from '../files/files.js';
import { droppingGrant, GRANTS, ownerOfUser } from '../grants/grant-record.js';
import { asUnavailable } from '../log/unavailable.js';
import type { RecordKind } from '../records/kind.js';
import { recordsOf } from '../records/owned.js';
import {
  homeOf,
  type RecordChange,
  type RecordHome,
  type StoredRecord,
  textOfHome,
} from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import type { SessionDirectory } from './directory.js';
import { ERASURE, GATEWAYS } from './erasures.js';

/** Sessions looked up at once. */
const PAGE = 100;

/** Ids of the records of data that was dropped: to be overwritten at once, or when its store is opened again. */
const VACUUM = 'vacuum';
const VACUUM_LATER = 'vacuum later';

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
  /** All kinds of records. */
  readonly kinds: readonly RecordKind[];
  readonly sessions: Pick<SessionDirectory, 'delete' | 'dropClosed' | 'perform' | 'serves'>;
  readonly files: Pick<GatewayFiles, 'erase'>;
  /** Id of this process on a shared store. */
  readonly holder: string;
  /** Whether the process that began an erasure is alive. Its erasures are left to it. */
  alive(holder: string): Promise<boolean>;
  /** Called before the records of a scope are dropped. */
  readonly erasing: (home: RecordHome) => Promise<unknown>;
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
  /** Number of vacuums under way here, with the erasures before them. */
  #vacuums = 0;

  constructor(env: EraserEnvironment) {
    this.#env = env;
  }

  /**
   * @param vacuum Whether the store must leave no byte behind, also if another process finishes the erasure.
   * @throws GatewayError `OVERLOADED`: the erasure is not complete yet, and will be continued
   */
  async erase(erasure: Erasure, vacuum: boolean): Promise<Erased> {
    await this.#change([this.#begun(textOfHome(erasure), vacuum)]);
    const finish = (): Promise<Erased> => this.#finish(erasure, vacuum);
    return vacuum ? this.#vacuumAfter(finish) : finish();
  }

  /** Overwrites what was dropped. */
  vacuum(): Promise<void> {
    return this.#vacuumAfter(async () => {});
  }

  async #vacuumAfter<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#vacuums += 1;
    try {
      const result = await work();
      const due = (await this.#records()).filter(({ id }) => isVacuum(id));
      await asUnavailable(() => this.#env.store.vacuum?.());
      // A record that was put meanwhile has another token. It tells of data that this vacuum may have missed.
      for (const { kind, id, token } of due) await this.#change([{ kind, id, token }]);
      return result;
    } finally {
      this.#vacuums -= 1;
    }
  }

  async #records(): Promise<readonly StoredRecord[]> {
    const query = { home: GATEWAYS, kind: ERASURE, limit: 10_000 };
    return asUnavailable(() => this.#env.store.records(query));
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
    const { store, holder, report } = this.#env;
    try {
      let isToVacuum = false;
      for (const { id, value } of await this.#records()) {
        const { by, vacuum } = JSON.parse(value) as BegunErasure;
        if (await this.#isUnderWay(id, by)) continue;
        if (!isVacuum(id)) {
          await this.#change([this.#begun(id, vacuum)]);
          await this.#finish(homeOf(id), vacuum);
        }
        // A store of one process is vacuumed when it is opened again. Others wait meanwhile where there are any.
        isToVacuum ||= vacuum || (by !== holder && !store.shared);
      }
      if (isToVacuum) await this.vacuum();
    } catch (error) {
      report(error, 'going on with an erasure that was begun');
    }
  }

  /** Whether a living process works on it. */
  async #isUnderWay(id: string, by: string): Promise<boolean> {
    const isHere = this.#active.has(id) || (id === VACUUM && this.#vacuums > 0);
    return isHere || (by !== this.#env.holder && (await this.#env.alive(by)));
  }

  async #finish(erasure: Erasure, vacuum: boolean): Promise<Erased> {
    const id = textOfHome(erasure);
    this.#active.add(id);
    try {
      const erased = await this.#drop(erasure);
      // The name of a person is not kept until everything is overwritten.
      await this.#change([{ kind: ERASURE, id }, ...this.#due(vacuum)]);
      return erased;
    } finally {
      this.#active.delete(id);
    }
  }

  /** The record of what was dropped. A store that gateways share is not vacuumed but on request. */
  #due(vacuum: boolean): readonly RecordChange[] {
    if (vacuum) return [this.#begun(VACUUM, true)];
    return this.#env.store.shared ? [] : [this.#begun(VACUUM_LATER, false)];
  }

  async #drop(erasure: Erasure): Promise<Erased> {
    const { sessions, files } = this.#env;
    let count = 0;
    for await (const ref of this.#sessionsOf(erasure)) if (await this.#delete(ref)) count += 1;
    // Followers of the dropped log have read its end, or will receive a gap.
    for await (const ref of this.#sessionsOf(erasure)) await sessions.dropClosed(ref);
    if (erasure.app === undefined) {
      await this.#env.erasing(erasure);
      await this.#dropRecords(erasure);
      await this.#endGrants(erasure.scope);
      await this.#dropOfPerson(erasure.scope);
    }
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

  /** Ends what others have shared with a person, and all that the person has by it: streams, control, schedules. */
  async #endGrants(person: string): Promise<void> {
    const given = { owner: ownerOfUser(person), kind: GRANTS.name };
    await asUnavailable(async () => {
      for await (const { home, id } of recordsOf(this.#env.store, given))
        await this.#endGrant(home as SessionRef, id);
    });
  }

  async #endGrant(ref: SessionRef, grantId: string): Promise<void> {
    const { store, sessions } = this.#env;
    try {
      if (sessions.serves(ref)) {
        await sessions.perform(ref, { type: 'unshare', grantId, by: 'gateway', reason: 'revoked' });
        return;
      }
    } catch (error) {
      if (!isGatewayError(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
    }
    await store.changeRecords(ref, droppingGrant(grantId));
  }

  /** Drops the records that a person has in the homes of others. A scope of one person has that person's key as its name. */
  async #dropOfPerson(owner: string): Promise<void> {
    const { store, kinds } = this.#env;
    await asUnavailable(async () => {
      for (const { name: kind } of kinds.filter(({ ofPerson }) => ofPerson))
        for await (const { home, id } of recordsOf(store, { owner, kind }))
          await store.changeRecords(home, [{ kind, id }]);
    });
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

const isVacuum = (id: string): boolean => id === VACUUM || id === VACUUM_LATER;
