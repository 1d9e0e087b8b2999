import type { ModelMessage, ToolModelMessage } from 'ai';
import type { Confirmation, Turn } from '../../apps/application.js';
import { once } from '../once.js';
import type { Approval, StreamReader } from './stream-reader.js';

export interface ApprovalOptions {
  readonly turn: Turn;
  readonly reader: StreamReader;
  /** Whether each answer of a person is a step. */
  readonly durable: boolean;
  /** Whether an input that the person changed fits the tool. Older versions of the SDK do not check it. */
  fits(name: string, input: unknown): Promise<boolean>;
}

/**
 * Asks the person for each approval that a stream ended with.
 *
 * @param answered The model's messages in that stream.
 * @returns these messages and the answers, with which the next stream begins
 */
export async function answerApprovals(
  { turn, reader, durable, fits }: ApprovalOptions,
  approvals: readonly Approval[],
  answered: readonly ModelMessage[],
): Promise<ModelMessage[]> {
  const changes = new Map<string, unknown>();
  const responses = await Promise.all(
    approvals.map(async ({ approvalId, toolCallId, call: { callId, name, input } }) => {
      const ask = (): Promise<Confirmation> => turn.confirm({ callId, name, input });
      const answer = await (durable ? once(turn, `approval ${name}`, ask) : ask());
      const { input: changed } = answer;
      const fitting = !answer.approved || changed === undefined || (await fits(name, changed));
      const approved = answer.approved && fitting;
      const reason = fitting ? answer.reason : 'the changed input does not fit the tool';
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

/** Replaces the model's inputs with the changed ones, because the SDK runs the inputs of the message. */
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
