import type { CallAnswer } from '../../../shared/asked-calls.js';
import type { PendingQuestion } from '../../../shared/fold.js';
import type { Message } from '../../../shared/messages.js';

/**
 * A question as the value of an interrupt. A confirmation becomes a request of LangChain's human-in-the-loop middleware, a tool of the
 * user's client a headless tool, and any other question its name, input and schema.
 */
export function interruptOf(
  { callId, kind, name, input, message, schema, policy, votes }: PendingQuestion,
  answer: Message,
): unknown {
  if (kind === 'confirmation') {
    const request = { name, args: input ?? {}, ...(message !== undefined && { description: message }) };
    const decisions = ['approve', ...((policy?.approvals ?? 1) > 1 ? [] : ['edit']), 'reject'];
    const review = { action_name: name, allowed_decisions: decisions };
    const asked = { action_requests: [request], review_configs: [review] };
    return { ...asked, ...(policy && { policy }), ...(votes && { votes }) };
  }
  const isCall = answer.content.some((block) => block.type === 'tool_use' && block.callId === callId);
  if (isCall) return { type: 'tool', tool_call: { id: callId, name, args: input ?? {} } };
  return { name, input: input ?? null, ...(schema !== undefined && { schema }) };
}

/** The answer to a question, from the value that a client resumes with. A confirmation counts as approved only if the value says so. */
export function answerOf(
  { callId, kind }: Pick<PendingQuestion, 'callId' | 'kind'>,
  response: unknown,
): CallAnswer {
  if (kind === 'confirmation') return decision(response);
  const ofCall = isRecord(response) && Object.keys(response).length === 1 ? response[callId] : undefined;
  const output = ofCall ?? response ?? null;
  return { kind: 'output', output };
}

function decision(response: unknown): CallAnswer {
  if (response === true) return { kind: 'confirmation', approved: true };
  const given = isRecord(response) && Array.isArray(response['decisions']) ? response['decisions'] : response;
  const one: unknown = Array.isArray(given) ? given[0] : given;
  if (!isRecord(one)) return { kind: 'confirmation', approved: false };
  const { type, approved, reason, message, input } = one;
  const edited = one['edited_action'] ?? one['editedAction'] ?? one['args'];
  const args = type === 'edit' && isRecord(edited) ? (edited['args'] ?? edited) : input;
  const why = [reason, message, type === 'response' ? one['args'] : undefined].find(
    (text) => typeof text === 'string',
  ) as string | undefined;
  return {
    kind: 'confirmation',
    approved: approved === true || type === 'approve' || type === 'accept' || type === 'edit',
    ...(why !== undefined && { reason: why }),
    ...(args !== undefined && { input: args }),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
