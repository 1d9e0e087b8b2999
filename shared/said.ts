import type { GatewayEvent } from './events.js';
import type { PendingQuestion } from './fold.js';
import type { ContentBlock, Message, ResourceBlock, ToolUseBlock } from './messages.js';
import { pick } from './pick.js';
import { type Subagent, subagentsIn } from './subagents.js';

/** Content of an answer that has no event. */
export type UnsaidBlock = SaidMedia | ResourceBlock;

type SaidMedia = Extract<ContentBlock, { readonly type: 'image' | 'file' | 'audio' }>;

/** A part of an answer: the event that would have told it, the block itself if there is no such event, or a child run. */
export type Said =
  | { readonly event: GatewayEvent }
  | { readonly block: UnsaidBlock }
  | { readonly subagent: Subagent };

/** An answer as the events that would have made it, one for each block. Its child runs follow, and the end comes last, if it has ended. */
export function saidIn(message: Message, runId: string): Said[] {
  const envelope = { sessionId: '', cursor: undefined as unknown as string, ts: message.createdAt, runId };
  const { app = '', stopReason, error } = message;
  const said: Said[] = [{ event: { type: 'message_start', ...envelope, messageId: message.id, app } }];
  const { content } = message;
  for (const [index, block] of content.entries()) {
    said.push(...sayBlock(block, index, envelope));
    if (block.type === 'tool_use' && block.denied) said.push({ event: refusal(block, content, envelope) });
  }
  for (const subagent of subagentsIn(message)) said.push({ subagent });
  if (error) said.push({ event: { type: 'run_error', ...envelope, ...error } });
  if (stopReason !== undefined)
    said.push({
      event: {
        type: 'message_end',
        ...envelope,
        ts: message.endedAt ?? envelope.ts,
        stopReason,
        ...pick(message, 'usage', 'totalUsage'),
        message,
      },
    });
  return said;
}

type SaidEnvelope = Pick<GatewayEvent, 'ts'> & {
  sessionId: string;
  cursor: string;
  ts: number;
  runId: string;
};

function sayBlock(block: ContentBlock, index: number, envelope: SaidEnvelope): Said[] {
  switch (block.type) {
    case 'text':
      return [{ event: { type: 'content_delta', ...envelope, delta: block.text, index } }];
    case 'reasoning':
      return [{ event: { type: 'reasoning_delta', ...envelope, delta: block.text, index } }];
    case 'tool_use': {
      const { denied: _, ...call } = block;
      const { callId, name, input } = block;
      const said: Said[] = [{ event: { ...envelope, ...call } }];
      // A client's call in an answer implies that the client was asked.
      if (block.runsOn === 'client')
        said.push({ event: { type: 'input_required', ...envelope, callId, name, payload: input } });
      return said;
    }
    case 'tool_result':
    case 'data':
      return [{ event: { ...envelope, ...block } }];
    default:
      return [{ block }];
  }
}

const DENIED = 'Denied: ';

/** The reason of a denial is kept only in the call's result. */
function refusal(
  { callId, name }: ToolUseBlock,
  content: readonly ContentBlock[],
  envelope: SaidEnvelope,
): GatewayEvent {
  const result = content.find((block) => block.type === 'tool_result' && block.callId === callId);
  const { output } = (result ?? {}) as { readonly output?: unknown };
  const given = typeof output === 'string' && output.startsWith(DENIED);
  const why = given && { reason: output.slice(DENIED.length) };
  return { type: 'tool_confirmation_result', ...envelope, callId, name, approved: false, by: '', ...why };
}

/** The URL of a block's bytes. An uploaded file has one below the gateway. */
export function urlOf({ mediaType, url, fileId, data = '' }: SaidMedia): string {
  if (url !== undefined) return url;
  return fileId === undefined ? `data:${mediaType};base64,${data}` : `files/${fileId}`;
}

/** An open question, as the event that asked it. All questions that are open at once form one batch. */
export function asking(question: PendingQuestion): GatewayEvent {
  const { callId, runId, kind, name, input, schema, message, policy } = question;
  const base = { sessionId: '', cursor: undefined as unknown as string, ts: 0, callId, name, batch: 'open' };
  const put = { ...base, ...(runId !== undefined && { runId }) };
  if (kind === 'input')
    return { type: 'input_required', ...put, payload: input, ...(schema !== undefined && { schema }) };
  const more = { ...(message !== undefined && { message }), ...(policy && { policy }) };
  return { type: 'tool_confirmation_required', ...put, input, ...more };
}
