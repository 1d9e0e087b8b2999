import type { AppRegistry } from '../../apps/registry.js';
import { accepts, isOf } from '../../apps/versions.js';
import { rootContext } from '../../async/async-context.js';
import { formerEventsIn } from '../../held/former-questions.js';
import { ownerOf, runIn } from '../../held/held-run.js';
import { rehearsedIn } from '../../held/rehearsed.js';
import { LeftRuns } from '../../held/run-record.js';
import { WAKINGS } from '../../held/waking.js';
import type { RunVerdict, UnfinishedRun } from '../../host/deploys.js';
import { LogView } from '../../log/log-view.js';
import { asUnavailable } from '../../log/unavailable.js';
import { recordsOf } from '../../records/owned.js';
import { LiveRun } from '../../runs/live-run.js';
import { placeIn } from '../../runs/place.js';
import { rehearse } from '../../runs/rehearse.js';
import { keyOf } from '../../stores/ref-key.js';
import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';
import { heldRuns } from './held-runs.js';

/** Sessions that are listed at once. */
const PAGE = 500;

interface UnfinishedParts {
  readonly store: Store;
  format(app: string, name: string): string;
}

/** The runs of some apps that have not ended, whoever holds their sessions. Takes nothing, and changes nothing. */
export async function* unfinishedRuns(
  { store, format }: UnfinishedParts,
  apps: readonly string[],
): AsyncGenerator<UnfinishedRun> {
  const seen = new Set<string>();
  for await (const ref of places(store, apps)) {
    if (seen.has(keyOf(ref))) continue;
    seen.add(keyOf(ref));
    yield* runsOf(store, ref, { apps, sessionId: format(ref.app, ref.name) });
  }
}

/** Sessions that may have an unfinished run: those that the store says so of, those that gateways hold, and those whose runs are parked or held. */
async function* places(store: Store, apps: readonly string[]): AsyncGenerator<SessionRef> {
  yield* await asUnavailable(() => store.unfinished());
  const { shared } = store;
  for (let after: SessionRef | undefined; shared; ) {
    const page = await asUnavailable(() => shared.held({ limit: PAGE, after }));
    yield* page;
    if (page.length < PAGE) break;
    after = page.at(-1);
  }
  for (const app of apps)
    for await (const { home } of recordsOf(store, { owner: ownerOf(app), kind: WAKINGS.name }))
      if (home.app !== undefined) yield home;
  for await (const { ref } of heldRuns(store, apps)) yield ref;
}

async function* runsOf(
  store: Store,
  { scope, app, name }: SessionRef,
  { apps, sessionId }: { readonly apps: readonly string[]; readonly sessionId: string },
): AsyncGenerator<UnfinishedRun> {
  const ref = { scope, app, name };
  const head = await asUnavailable(() => store.head(ref));
  if (!head || head.closed) return;
  const record = await asUnavailable(() => store.record(ref));
  const left = new LeftRuns(await asUnavailable(() => store.openRuns(ref)), record?.userId);
  const view = new LogView(store, { ...ref, epoch: head.epoch }, head);
  await asUnavailable(() => view.folded());
  const { run, lanes = [], messages } = view.state;
  const open = [...(run ? [run] : []), ...lanes.filter(({ stopReason }) => !stopReason)];
  for (const { runId, message: resumed } of open) {
    const lane = lanes.find((each) => each.runId === runId);
    const message = lane?.asked ?? messages.findLast(({ id }) => id === left.messageId(runId));
    if (!message || !apps.includes(lane?.app ?? app) || left.lane(runId)?.inline) continue;
    const live = new LiveRun(left.request({ runId, message, onBusy: 'queue' }), {
      ...{ resumed, context: rootContext },
    });
    const steps = left.steps(runId);
    const { answered, taken } = await formerEventsIn(view, runId, placeIn(steps)?.seq ?? left.from(runId));
    const isHeld = runIn(view.state, runId)?.held != null;
    yield {
      ...(await rehearsedIn({ sessionId, view }, live, { steps, answered, taken })),
      scope,
      name,
      isHeld,
    };
  }
}

/** The fate of an unfinished run with the apps of a gateway. Nothing that they do by the turn has an effect. */
export async function verdictOn(
  run: UnfinishedRun,
  { apps, gatewayId, ms }: { readonly apps: AppRegistry; readonly gatewayId: string; readonly ms: number },
): Promise<RunVerdict> {
  if (!apps.has(run.app)) return { outcome: 'lost', reason: 'no app' };
  const app = apps.get(run.app);
  if (!app.resumable) return { outcome: 'lost', reason: 'not resumable' };
  if (isOf(app, run.version)) return { outcome: 'goes on' };
  if (!accepts(app, run.version)) return { outcome: 'held', reason: 'version' };
  const file = (): Promise<never> => Promise.reject(new Error('Files are not read in a check'));
  // Which app is the default may be new too.
  const sessionId = apps.format(run.sessionApp, run.name);
  const options = { ms, gatewayId, file, now: () => Date.now() };
  const mismatch = await rehearse(app, { ...run, sessionId }, options);
  return mismatch ? { outcome: 'held', reason: 'mismatch', mismatch } : { outcome: 'goes on' };
}
