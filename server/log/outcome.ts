import type { EventDraft } from '../../shared/events.js';
import type { RunResult } from '../../shared/operation-types.js';

/** The outcomes of runs from the events that end them, by run id. */
export function outcomesOf(
  events: readonly Pick<EventDraft, 'type'>[],
): Map<string, Omit<RunResult, 'cursor'>> {
  const outcomes = new Map<string, Omit<RunResult, 'cursor'>>();
  const errors = new Map<string, RunResult['error']>();
  for (const event of events as readonly EventDraft[]) {
    if (event.type === 'run_error') errors.set(event.runId!, { code: event.code, message: event.message });
    if (event.type !== 'message_end') continue;
    const { message, stopReason, usage, intoRunId } = event;
    const runId = event.runId!;
    const error = errors.get(runId);
    outcomes.set(runId, {
      runId,
      message,
      stopReason,
      ...(usage && { usage }),
      ...(intoRunId !== undefined && { intoRunId }),
      ...(error && { error }),
    });
  }
  return outcomes;
}
