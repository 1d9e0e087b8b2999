import type { HeldCount } from '../../../shared/deploys/contract.js';
import type { AppRegistry } from '../../apps/registry.js';
import { accepts, isOf } from '../../apps/versions.js';
import { atOnce } from '../../async/at-once.js';
import { TAKEN_AT_ONCE } from '../../cluster/cluster.js';
import { type Errands, errand } from '../../cluster/errands.js';
import { HeldElsewhere } from '../../cluster/held-elsewhere.js';
import type { Report } from '../../diagnostics/log-facts.js';
import { HELD_RUNS, type KeptHeld, ownerOf } from '../../held/held-run.js';
import { leave } from '../../held/waking.js';
import { recordsOf } from '../../records/owned.js';
import type { SessionDirectory } from '../../sessions/directory.js';
import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';

/** Asks a gateway to leave a session, whose run it holds back, to another one that can go on with it. */
const LEAVE = errand<{ readonly ref: SessionRef; readonly to: string }, boolean>('leave-held-run');

/** A held run with its place. */
export interface FoundHeld extends KeptHeld {
  readonly runId: string;
  readonly ref: SessionRef;
}

/** All held runs of some apps in a store. */
export async function* heldRuns(
  store: Pick<Store, 'records'>,
  apps: Iterable<string>,
): AsyncGenerator<FoundHeld> {
  for (const app of apps)
    for await (const record of recordsOf(store, { owner: ownerOf(app), kind: HELD_RUNS.name })) {
      const { home, id: runId } = record;
      const kept = HELD_RUNS.read(record);
      if (home.app !== undefined && kept) yield { ...kept.value, runId, ref: home };
    }
}

/** Looks for held runs with which a version can go on that is served here, and counts the others. */
export class HeldRuns {
  /** The held runs of the apps that are served here, at whichever gateway, as of the last look. */
  counts: readonly HeldCount[] = [];
  readonly #sessionsOf: () => SessionDirectory;
  readonly #store: Pick<Store, 'records'>;
  readonly #apps: AppRegistry;
  readonly #report: Report;
  #looking: Promise<void> | null = null;

  constructor({
    sessions,
    store,
    apps,
    report,
  }: {
    /** The sessions of the gateway, once it is assembled. */
    sessions(): SessionDirectory;
    readonly store: Pick<Store, 'records'>;
    readonly apps: AppRegistry;
    readonly report: Report;
  }) {
    this.#sessionsOf = sessions;
    this.#store = store;
    this.#apps = apps;
    this.#report = report;
  }

  get #sessions(): SessionDirectory {
    return this.#sessionsOf();
  }

  /** Leaves held runs to other gateways that ask for them. */
  join(errands: Errands): void {
    errands.on(LEAVE, ({ ref, to }) => this.#leave(ref, to));
  }

  /** Looks once. One look is under way at a time. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#report(error, 'looking for held runs'))
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const names = [...this.#apps.entries()].map(([name]) => name);
    const counts = new Map<string, { app: string; version: string; count: number }>();
    const mine: SessionRef[] = [];
    for await (const { app, version, by, ref } of heldRuns(this.#store, names)) {
      const key = JSON.stringify([app, version]);
      const counted = counts.get(key) ?? { app, version: version ?? '', count: 0 };
      counted.count += 1;
      counts.set(key, counted);
      const served = this.#apps.get(app);
      const may = isOf(served, version) || (accepts(served, version) && by !== served.version);
      if (may && this.#sessions.serves(ref)) mine.push(ref);
      else await this.#park(ref);
    }
    this.counts = [...counts.values()];
    await atOnce(mine, TAKEN_AT_ONCE, (ref) => this.#take(ref));
  }

  /** A session that was followed as its run was held may have been left meanwhile. */
  async #park(ref: SessionRef): Promise<void> {
    const { held } = this.#sessions.peek(ref) ?? {};
    const { active } = held?.runs ?? {};
    if (held && active && held.log.state.run?.held) await leave(held, active);
  }

  async #take(ref: SessionRef): Promise<void> {
    const session = this.#sessions.get(ref);
    const { cluster } = this.#sessions;
    try {
      const { held } = session;
      // It was held back here, before this version was known to be able to.
      if (held) return;
      try {
        await session.take();
      } catch (error) {
        if (!(error instanceof HeldElsewhere)) throw error;
        const { holder } = error;
        if (!(await cluster.alive(holder))) await session.take(undefined, { from: holder });
        else await cluster.errands.ask(holder, LEAVE, { ref, to: cluster.errands.holder });
      }
    } catch (error) {
      if (!(error instanceof HeldElsewhere)) this.#report(error, 'taking up a held run', session.facts);
    }
  }

  /** Leaves a session to another gateway, if its run is held back here. */
  async #leave(ref: SessionRef, to: string): Promise<boolean> {
    const session = this.#sessions.peek(ref);
    const { held } = session ?? {};
    const { run } = held?.log.state ?? {};
    if (!session || !held || !run?.held) return false;
    await leave(held, held.runs.find(run.runId)!, true);
    await this.#sessions.cluster.giveTo(to, ref);
    return true;
  }
}
