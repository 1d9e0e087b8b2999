import type { UiChunk, UiMessage } from './chunks.js';

/**
 * A continuation that has nothing to tell, since other questions of the step are open. A page must not ask on behind it at once, and
 * has to once those are answered.
 *
 * @param message As its page has it
 * @param missing The calls that are not answered
 */
export function unchanged(
  { id, parts }: Pick<UiMessage, 'id' | 'parts'>,
  missing: readonly string[],
  messageMetadata: object,
): UiChunk[] {
  const shown = new Set(parts.map(({ toolCallId }) => toolCallId));
  // What is said to be run elsewhere is nothing to ask on for, and leaves the step the one that the open questions are in.
  const done = missing.every((callId) => shown.has(callId)) ? handedOver(parts) : [];
  const told: readonly UiChunk[] = done.length > 0 ? done : [{ type: 'start-step' }, { type: 'finish-step' }];
  return [
    { type: 'start', messageId: id },
    ...told,
    { type: 'finish', finishReason: 'tool-calls', messageMetadata },
  ];
}

/** What a page has run itself. */
function handedOver(parts: UiMessage['parts']): UiChunk[] {
  return parts.flatMap(({ toolCallId, state, output, errorText, providerExecuted }): UiChunk[] => {
    if (typeof toolCallId !== 'string' || providerExecuted) return [];
    const call = { toolCallId, providerExecuted: true };
    if (state === 'output-available') return [{ type: 'tool-output-available', output, ...call }];
    if (state !== 'output-error') return [];
    return [{ type: 'tool-output-error', errorText: String(errorText), ...call }];
  });
}
