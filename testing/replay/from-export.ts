import type { LoggedEvent } from '../../client/index.js';
import type { RecordedCall, RecordedTurn } from '../../server/features/recording/index.js';
import { textOf } from '../../shared/messages.js';

/**
 * Makes a record from a session's exported events. They contain messages, tools, questions and answers, but no steps or calls of models, so that apps
 * which make these diverge.
 */
export function fromExport(events: readonly LoggedEvent[]): RecordedTurn[] {
  return events.flatMap((accepted) => {
    if (accepted.type !== 'message_accepted') return [];
    const { runId = '', sessionId, message, metadata } = accepted;
    const own = events.filter((event) => event.runId === runId);
    const end = own.find((event) => event.type === 'message_end');
    if (end?.type !== 'message_end' || !/^(?:end|error)$/.test(end.stopReason)) return [];
    return [
      {
        ...{
          version: 1,
          sessionId,
          runId,
          message: textOf(message),
          calls: own.flatMap((event) => callsOf(event, own)),
        },
        ...(metadata && { metadata }),
        ...(end.stopReason === 'error'
          ? { error: { message: 'The run failed' } }
          : { answer: textOf(end.message) }),
      },
    ];
  });
}

function callsOf(event: LoggedEvent, own: readonly LoggedEvent[]): RecordedCall[] {
  if (event.type === 'tool_result') {
    const used = own.find((other) => other.type === 'tool_use' && other.callId === event.callId);
    const said = own.find(
      (other) => other.type === 'tool_confirmation_result' && other.callId === event.callId,
    );
    if (used?.type !== 'tool_use') return [];
    const answer = said?.type === 'tool_confirmation_result' ? said : undefined;
    // A denied call never reached its handler.
    if (answer?.approved === false) return [];
    const call = { kind: 'tool', name: event.name, input: answer?.input ?? used.input } as const;
    return [
      event.isError
        ? { ...call, error: { message: String(event.output) } }
        : { ...call, output: event.output },
    ];
  }
  if (event.type === 'input_result') {
    const asked = own.find((other) => other.type === 'input_required' && other.callId === event.callId);
    const payload = asked?.type === 'input_required' ? (asked.payload ?? null) : null;
    return [{ kind: 'ask', name: event.name, input: payload, output: event.output }];
  }
  return [];
}
