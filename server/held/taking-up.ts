import type { PendingQuestion } from '../../shared/fold.js';
import type { Application } from '../apps/application.js';
import { goesOnBy } from '../runs/alone.js';
import type { LiveRun } from '../runs/live-run.js';
import { Resumption } from '../runs/resumption.js';
import { formerEventsIn } from './former-questions.js';
import type { HeldSession } from './held-session.js';
import { endUnread, readPatiently } from './patient.js';
import type { LeftRuns } from './run-record.js';

/** A run that a former process left, as it goes on here. */
export interface TakenUp {
  readonly run: LiveRun;
  readonly app: Application;
  readonly resumption: Resumption;
  /** Place just before the first event that it may ask for again. */
  readonly from: number;
}

/** All that a former process left of a run. */
export function takenUp(
  { log }: HeldSession,
  run: LiveRun,
  { left, app }: { readonly left: LeftRuns; readonly app: Application },
): TakenUp & { readonly asked: readonly PendingQuestion[] } {
  const asked = log.state.pending.filter((question) => question.runId === run.id);
  const goesOn = goesOnBy(app, run.request);
  const resumption = new Resumption(run.resumed!, asked, { steps: left.steps(run.id), goesOn });
  // An app that goes on from a place of its own has all answers before it.
  const from = goesOn ? (resumption.place?.seq ?? log.view.head) : left.from(run.id);
  return { run, app, resumption, asked, from };
}

/** Lets the app of a run go on that a former process left. Opening the session does not wait for it. */
export function goOn(held: HeldSession, taken: TakenUp): void {
  const { run, app, resumption, from } = taken;
  const { env, log, runs } = held;
  setImmediate(async () => {
    try {
      const { taken: before, ...events } = await readPatiently(held, run, () =>
        formerEventsIn(log.view, run.id, from),
      );
      // An app that goes on from a place of its own does not say again what was before it.
      resumption.learn({ ...events, taken: goesOnBy(app, run.request) ? [] : before });
      for (const takesUp of env.takesUp) if (!(await takesUp(held, taken))) return;
    } catch (error) {
      return endUnread(held, run, error);
    }
    runs.letBegin(run);
  });
}
