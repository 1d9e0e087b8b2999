import { userOfScope } from '../auth/scope.js';
import { HELD_RUNS, ownerOf } from '../held/held-run.js';
import { WAKINGS } from '../held/waking.js';
import { asUnavailable } from '../log/unavailable.js';
import { recordsOf } from '../records/owned.js';
import type { Store } from '../stores/store.js';
import type { DeskRun } from './rows.js';

/** Runs that no process has in memory: parked, held back by their version, or left by a process that ended. */
export async function* storedRuns(
  store: Store,
  { apps, format }: { readonly apps: Iterable<string>; format(app: string, name: string): string },
): AsyncGenerator<DeskRun> {
  const rowOf = (
    { scope, app, name }: { readonly scope: string; readonly app: string; readonly name: string },
    runId: string | null,
  ) => ({
    ...{ gateway: null, sessionId: format(app, name), scope, runId, app, ageMs: null },
    user: userOfScope(scope),
  });
  for (const app of apps) {
    for await (const record of recordsOf(store, { owner: ownerOf(app), kind: WAKINGS.name })) {
      const { home, id } = record;
      const kept = WAKINGS.read(record);
      if (home.app === undefined || !kept) continue;
      const { at = null } = kept.value;
      yield { ...rowOf(home, id), state: 'parked', waitsFor: at === null ? 'person' : 'time', until: at };
    }
    for await (const { home, id } of recordsOf(store, { owner: ownerOf(app), kind: HELD_RUNS.name }))
      if (home.app !== undefined) yield { ...rowOf(home, id), state: 'held', waitsFor: 'version' };
  }
  for (const ref of await asUnavailable(() => store.unfinished()))
    yield { ...rowOf(ref, null), state: 'left', waitsFor: 'gateway' };
}
