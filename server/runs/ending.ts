import type { EventDraft } from '../../shared/events.js';
import type { Message, StopReason, Usage } from '../../shared/messages.js';
import type { LiveRun } from './live-run.js';

/** How a run ends. */
export interface Ending {
  readonly stopReason: StopReason;
  readonly error?: { readonly code: string; readonly message: string };
  readonly intoRunId?: string;
  /** Handed to the app's signal. */
  readonly reason?: string | undefined;
}

/** The events that end a run. */
export function endDrafts(
  run: LiveRun,
  ending: Ending,
  message: Message,
  usage: Usage | null,
): readonly EventDraft[] {
  const base = { runId: run.id, ts: Date.now() };
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
