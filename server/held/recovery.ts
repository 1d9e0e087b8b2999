import type { ActiveRun, SessionState } from '../../shared/fold.js';
import { withoutPlace } from '../../shared/messages.js';
import { rootContext } from '../async/async-context.js';
import { commitPlan, type Plan } from '../log/plan.js';
import { endDrafts, PLAINER_ENDS } from '../runs/ending.js';
import { LiveRun } from '../runs/live-run.js';
import { InheritedQuestion, Resumption } from '../runs/resumption.js';
import type { HeldSession } from './held-session.js';
import { resultsOf } from './run-endings.js';
import type { LeftRuns } from './run-record.js';

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

function resume(
  { env, log, ref, runs }: HeldSession,
  { runId, message: answer }: ActiveRun,
  open: LeftRuns,
): boolean {
  const { messages, pending } = log.state;
  const messageId = open.messageId(runId);
  const message = messages.findLast(({ id }) => id === messageId);
  if (!message || !env.app(ref.app).resumable) return false;
  const run = new LiveRun(open.request({ runId, message, onBusy: 'queue' }), {
    resumed: answer,
    context: rootContext,
  });
  // From here on the run is lost with this process, like any other.
  if (log.view.activity.parked) log.commit([], { parked: false }).catch(() => {});
  const execution = runs.activate(run);
  const asked = pending.filter((question) => question.runId === runId);
  for (const question of asked) runs.questions.add(new InheritedQuestion(runId, question));
  execution.resume(new Resumption(answer, asked, open.steps(runId)));
  // Opening the session does not wait for the app.
  setImmediate(() => runs.letBegin(run));
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
