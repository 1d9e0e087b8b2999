import type { ActiveRun, SessionState } from '../../shared/fold.js';
import { withoutPlace } from '../../shared/messages.js';
import { rootContext } from '../async/async-context.js';
import { commitPlan, type Plan } from '../log/plan.js';
import { endDrafts, PLAINER_ENDS } from '../runs/ending.js';
import { LiveRun } from '../runs/live-run.js';
import { InheritedQuestion } from '../runs/resumption.js';
import type { HeldSession } from './held-session.js';
import { resultsOf } from './run-endings.js';
import type { LeftRuns } from './run-record.js';
import { goOn, takenUp } from './taking-up.js';
import { unpark } from './waking.js';

/** Takes up the runs that another process left: resumes the active run or ends it as `lost`, and starts the queued ones. */
export function recover(held: HeldSession, open: LeftRuns): void {
  const { runs } = held;
  const { run: left, queue } = held.log.state;
  runs.lanes.recover(open);
  if (left && !resume(held, left, open))
    endLeft(held, { ...left, message: withoutPlace(left.message) }, open);
  for (const queued of queue) {
    const run = new LiveRun(open.request(queued), { context: rootContext });
    run.state = 'queued';
    runs.queue.restore(run);
  }
  runs.advance();
}

/** Takes up the runs that another process left, only to end them: none of them starts, and its app need not be served here. */
export function recoverToEnd({ log, runs }: HeldSession, open: LeftRuns): void {
  const { run: left, queue } = log.state;
  runs.lanes.recoverToEnd(open);
  const active = left && { runId: left.runId, message: withoutPlace(left.message), onBusy: 'queue' as const };
  for (const accepted of active ? [active, ...queue] : queue) {
    const run = new LiveRun(open.request(accepted), { context: rootContext });
    run.state = 'queued';
    runs.queue.restore(run);
  }
}

function resume(held: HeldSession, { runId, message: answer }: ActiveRun, open: LeftRuns): boolean {
  const { env, log, ref, runs } = held;
  const { messages } = log.state;
  const messageId = open.messageId(runId);
  const message = messages.findLast(({ id }) => id === messageId);
  const app = env.app(ref.app);
  if (!message || !app.resumable) return false;
  const run = new LiveRun(open.request({ runId, message, onBusy: 'queue' }), {
    resumed: answer,
    context: rootContext,
  });
  if (log.view.activity.parked && !log.state.run?.held) unpark(held, runId);
  const execution = runs.activate(run);
  const taken = takenUp(held, run, { left: open, app });
  for (const question of taken.asked) runs.questions.add(new InheritedQuestion(runId, question));
  execution.resume(taken.resumption);
  goOn(held, taken);
  return true;
}

function endLeft({ env, log, runs }: HeldSession, { runId, message }: ActiveRun, open: LeftRuns): void {
  const run = new LiveRun(open.request({ runId, message, onBusy: 'queue' }), {
    resumed: message,
    context: rootContext,
  });
  const make = (state: SessionState, refused: number): Plan => ({
    events: endDrafts(run, { stopReason: 'lost' }, state, { refused }),
  });
  commitPlan(log, make, { ends: [run], forms: PLAINER_ENDS }).then(
    ({ plan, committed }) => runs.settle(resultsOf(log, plan.events, committed.first), [run]),
    (error: unknown) => env.report(error, `ending lost run ${runId}`, runs.about(run)),
  );
}
