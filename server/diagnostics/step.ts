import type { UserContext } from '../../shared/contract.js';
import { channels } from './channels.js';
import { Trace } from './trace.js';

/** The run that takes a step. */
interface SteppingRun {
  readonly gatewayId: string;
  readonly runId: string;
  readonly session: { readonly id: string; readonly app: string; readonly epoch: string };
  readonly user: UserContext | null;
}

/** Traces a step of a run until its outcome is kept. */
export function traceStep<T>(run: SteppingRun, step: string, work: () => Promise<T>): Promise<T> {
  if (!channels.step.hasSubscribers) return work();
  const { gatewayId, runId, session, user } = run;
  const { id: sessionId, app, epoch } = session;
  const trace = new Trace(channels.step, { gatewayId, sessionId, app, epoch, runId, user, step });
  return trace.during(() => {
    const outcome = work();
    outcome.then(
      (value) => trace.done(value),
      (error: unknown) => trace.fail(error),
    );
    return outcome;
  });
}
