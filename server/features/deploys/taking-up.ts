import { GatewayError } from '../../../shared/errors.js';
import type { ActiveRun } from '../../../shared/fold.js';
import { accepts, isOf } from '../../apps/versions.js';
import { ConcurrencyLimit } from '../../async/at-once.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import { HELD_RUNS, type KeptHeld, runIn } from '../../held/held-run.js';
import type { HeldSession } from '../../held/held-session.js';
import { readPatiently } from '../../held/patient.js';
import { rehearsedOf } from '../../held/rehearsed.js';
import type { TakenUp } from '../../held/taking-up.js';
import { leave } from '../../held/waking.js';
import type { Mismatch } from '../../runs/rehearsal.js';
import { rehearse } from '../../runs/rehearse.js';
import { storeTime } from '../../stores/skew.js';
import { askWhetherAnew, beginAnew, endAsLost } from './mismatch.js';

/** The rehearsals under way, by the limits of their gateway. */
const underWay = new WeakMap<object, ConcurrencyLimit>();

/** Whether the app that is served here may go on with a run that another process left. If not, the run is held, or ends as its app says. */
export function takesUp(held: HeldSession, taken: TakenUp): MaybePromise<boolean> {
  const { run, app } = taken;
  const begun = runIn(held.log.state, run.id);
  if (!begun || (isOf(app, begun.version) && !begun.held)) return true;
  if (isOf(app, begun.version)) return goesOn(held, taken);
  return decide(held, taken, begun);
}

async function decide(held: HeldSession, taken: TakenUp, begun: ActiveRun): Promise<boolean> {
  const { run, app } = taken;
  const { onMismatch = 'hold' } = app;
  if (!accepts(app, begun.version)) return hold(held, taken, begun);
  // This version was rehearsed before.
  const isJudged = begun.held != null && begun.held.by === app.version;
  const mismatch = isJudged ? undefined : await rehearsed(held, taken);
  if (run.state !== 'active' || held.over) return false;
  if (mismatch === null) return goesOn(held, taken);
  if (mismatch?.what === 'time' || onMismatch === 'hold') return hold(held, taken, begun, mismatch);
  if (onMismatch === 'ask') {
    await hold(held, taken, begun, mismatch, false);
    return askWhetherAnew(held, run);
  }
  return onMismatch === 'restart' ? beginAnew(held, run) : endAsLost(held, run);
}

async function rehearsed(held: HeldSession, { run, app, resumption }: TakenUp): Promise<Mismatch | null> {
  const { env, ref } = held;
  const { rehearsals, rehearsalMs: ms } = env.limits;
  let limit = underWay.get(env.limits);
  if (!limit) {
    limit = new ConcurrencyLimit(rehearsals);
    underWay.set(env.limits, limit);
  }
  let outcome: Mismatch | null = null;
  await limit.run(async () => {
    const left = await readPatiently(held, run, () => rehearsedOf(held, run, resumption));
    outcome = await rehearse(app, left, {
      ...{ ms, gatewayId: env.gatewayId, guard: env.guardOf(app) },
      now: () => storeTime(env.store),
      file: (fileId) => env.files.open(ref.scope, fileId),
    });
  });
  return outcome;
}

/** Notes that this version goes on with the run. */
async function goesOn({ log }: HeldSession, { run, app }: TakenUp): Promise<boolean> {
  const { version } = app;
  await log.commit([
    { type: 'run_taken_up', runId: run.id, ts: Date.now(), ...(version !== undefined && { version }) },
  ]);
  return true;
}

/** Holds a run. @param parks Whether nobody here does anything more for it */
async function hold(
  held: HeldSession,
  { run, app }: TakenUp,
  { version, held: before }: ActiveRun,
  mismatch?: Mismatch,
  parks = true,
): Promise<false> {
  const { env, log, runs } = held;
  const about = {
    ...(version !== undefined && { version }),
    ...(app.version !== undefined && { by: app.version }),
  };
  if (!before || before.by !== app.version) {
    const name = run.request.lane?.app ?? held.ref.app;
    const kept: KeptHeld = {
      ...{ app: name, ...about, since: storeTime(env.store) },
      ...(mismatch && { mismatch }),
    };
    await log.commit([{ type: 'run_held', runId: run.id, ts: Date.now(), ...about }], {
      records: [HELD_RUNS.put(run.id, kept, log.ref)],
    });
    const why = mismatch ? `it came to ${JSON.stringify(mismatch)}` : 'it does not accept that version';
    const versions = `version ${app.version} of the app ${name} cannot go on with a run of version ${version ?? 'none'}`;
    env.report.warn?.(`a run is held: ${versions}, because ${why}`, { ...runs.about(run) });
  }
  if (parks) {
    runs.questions.refuse(run.id, new GatewayError({ code: 'RUN_HELD' }));
    await leave(held, run);
  }
  return false;
}
