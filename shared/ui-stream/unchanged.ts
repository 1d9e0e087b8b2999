import type { UiChunk, UiPart } from './chunks.js';

/**
 * A continuation that tells nothing new, since other questions of the step are open. The page must not send a new request at once, but after those
 * are answered.
 *
 * @param message The page's version of it
 * @param missing The calls without an answer
 */
export function unchanged(
  { id, parts }: { readonly id: string; readonly parts: readonly UiPart[] },
  missing: readonly string[],
  messageMetadata: object,
): UiChunk[] {
  const shown = new Set(parts.map(({ toolCallId }) => toolCallId));
  // Calls that run elsewhere cause no new request of a page, and the open questions stay in the current step.
  const done = missing.every((callId) => shown.has(callId)) ? handedOver(parts) : [];
  const told: readonly UiChunk[] = done.length > 0 ? done : [{ type: 'start-step' }, { type: 'finish-step' }];
  return [
    { type: 'start', messageId: id },
    ...told,
    { type: 'finish', finishReason: 'tool-calls', messageMetadata },
  ];
}

/** Marks the calls that a page has run itself as run elsewhere. */
function handedOver(parts: readonly UiPart[]): UiChunk[] {
  return parts.flatMap(({ toolCallId, state, output, errorText, providerExecuted }): UiChunk[] => {
    if (typeof toolCallId !== 'string' || providerExecuted) return [];
    const call = { toolCallId, providerExecuted: true };
    if (state === 'output-available') return [{ type: 'tool-output-available', output, ...call }];
    if (state !== 'output-error') return [];
    return [{ type: 'tool-output-error', errorText: String(errorText), ...call }];
  });
}
