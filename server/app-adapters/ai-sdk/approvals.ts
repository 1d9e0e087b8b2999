import type { ModelMessage, ToolModelMessage } from 'ai';
import type { Turn } from '../../apps/application.js';
import type { Approval, StreamReader } from './stream-reader.js';

/**
 * Asks the person for every approval that a stream ended with.
 *
 * @param answered What the model said in that stream.
 * @returns the same and the answers: what the next stream begins with.
 */
export async function answerApprovals(
  turn: Turn,
  reader: StreamReader,
  approvals: readonly Approval[],
  answered: readonly ModelMessage[],
): Promise<ModelMessage[]> {
  const changes = new Map<string, unknown>();
  const responses = await Promise.all(
    approvals.map(async ({ approvalId, toolCallId, call: { callId, name, input } }) => {
      const { approved, reason, input: changed } = await turn.confirm({ callId, name, input });
      if (approved && changed !== undefined) changes.set(toolCallId, changed);
      if (!approved) reader.deny(toolCallId, reason);
      return {
        type: 'tool-approval-response' as const,
        approvalId,
        approved,
        ...(reason !== undefined && { reason }),
      };
    }),
  );
  const answers: ToolModelMessage = { role: 'tool', content: responses };
  return [...answered.map((message) => withInputs(message, changes)), answers];
}

/** Puts changed inputs in the place of the model's; the SDK runs what stands there. */
function withInputs(message: ModelMessage, changes: ReadonlyMap<string, unknown>): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const content = message.content.map((part) => {
    if (part.type === 'tool-call' && changes.has(part.toolCallId))
      return { ...part, input: changes.get(part.toolCallId) };
    if (part.type === 'tool-approval-request' && changes.has(part.toolCallId)) {
      const { inputSchemaInput: _former, ...request } = part;
      return request;
    }
    return part;
  });
  return { ...message, content };
}
