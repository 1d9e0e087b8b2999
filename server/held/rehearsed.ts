import { isGateCallId } from '../ids.js';
import type { LogView } from '../log/log-view.js';
import type { LiveRun } from '../runs/live-run.js';
import type { RehearsedRun } from '../runs/rehearse.js';
import type { Resumption } from '../runs/resumption.js';
import { runIn } from './held-run.js';
import type { HeldSession } from './held-session.js';
import { historyOf } from './history.js';

/** The part of a session that is held here which a rehearsal of a run needs. */
export const rehearsedOf = (
  { id, log }: Pick<HeldSession, 'id' | 'log'>,
  run: LiveRun,
  { steps, answered, taken }: Pick<Resumption, 'steps' | 'answered' | 'taken'>,
): Promise<RehearsedRun> => rehearsedIn({ sessionId: id, view: log.view }, run, { steps, answered, taken });

/** The same, of a session that anybody may hold. */
export async function rehearsedIn(
  { sessionId, view }: { readonly sessionId: string; readonly view: LogView },
  run: LiveRun,
  left: Pick<RehearsedRun, 'steps' | 'answered' | 'taken'>,
): Promise<RehearsedRun> {
  const { state, ref } = view;
  const shown = await historyOf(view, run);
  const begun = runIn(state, run.id);
  const { version } = begun ?? {};
  return {
    ...{ runId: run.id, sessionId, epoch: ref.epoch, sessionApp: ref.app },
    ...(state.title !== undefined && { title: state.title }),
    ...(state.variants && { variants: state.variants }),
    ref,
    app: run.request.lane?.app ?? ref.app,
    ...(version !== undefined && { version }),
    ...{ request: run.request, placed: run.placed, answer: run.resumed!, history: shown(), ...left },
    // The app does not come to a question that the gateway asks.
    pending: state.pending.filter(({ runId, callId }) => runId === run.id && !isGateCallId(callId)),
    children: (state.lanes ?? []).filter(({ parentRunId }) => parentRunId === run.id),
  };
}
