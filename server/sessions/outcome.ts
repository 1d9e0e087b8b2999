import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { RunResult } from '../../shared/operation-types.js';

/** What the events that end a run say of it. */
export function outcomeOf(events: readonly Pick<EventDraft, 'type'>[]): Omit<RunResult, 'cursor'> {
  let error: RunResult['error'];
  for (const event of events as readonly EventDraft[]) {
    if (event.type === 'run_error') error = { code: event.code, message: event.message };
    if (event.type !== 'message_end') continue;
    const { runId, message, stopReason, usage, intoRunId } = event;
    return {
      runId: runId!,
      message,
      stopReason,
      ...(usage && { usage }),
      ...(intoRunId !== undefined && { intoRunId }),
      ...(error && { error }),
    };
  }
  throw new GatewayError({ code: 'INTERNAL', message: 'A run ended without message_end' });
}
