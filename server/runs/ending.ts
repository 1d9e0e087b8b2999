import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { type StopReason, withoutPlace } from '../../shared/messages.js';
import type { LiveRun } from './live-run.js';

/** How a run ends. */
export interface Ending {
  readonly stopReason: StopReason;
  readonly error?: { readonly code: string; readonly message: string };
  readonly intoRunId?: string;
  /** Reason of the app's abort signal. */
  readonly reason?: string | undefined;
}

/** The events that end a run. They carry the answer as far as it is in the log, whatever ends the run and whether or not it has started. */
export function endDrafts(run: LiveRun, ending: Ending, state: SessionState): readonly EventDraft[] {
  const base = { runId: run.id, ts: Date.now() };
  const said = state.run?.runId === run.id ? withoutPlace(state.run.message) : run.emptyAnswer();
  const message = run.notes.annotated(said);
  const usage = run.notes.counts;
  const { stopReason, error, intoRunId } = ending;
  const end: EventDraft = {
    type: 'message_end',
    ...base,
    stopReason,
    ...(intoRunId !== undefined && { intoRunId }),
    ...(usage && { usage }),
    message,
  };
  return error ? [{ type: 'run_error', ...base, ...error }, end] : [end];
}
