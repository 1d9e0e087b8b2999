import type { ContentBlock, Message, Role, ToolResultBlock } from '../../../shared/messages.js';
import { tellOfCuts } from '../../chat-format/cut-answers.js';
import { type Results, resultsIn, roundsOf, withoutProviderCalls } from '../../chat-format/rounds.js';
import { fromGraphContent, toGraphContent } from './content.js';
import { type GraphContent, type GraphMessage, type GraphToolMessage, roleOf } from './graph.js';

/** A converted message: LangChain's form has no place for time and metadata. */
export type ConvertedMessage = Pick<Message, 'role' | 'content'> & { readonly id?: string };

/**
 * Converts messages to LangChain's form, as plain objects that any graph with a `messages` state accepts. An answer with tool calls becomes
 * several messages: each round of calls with the results behind it. Blocks without a counterpart are left out: `data` blocks, resources
 * without text, results without a call. After a truncated answer, the user's next message says so.
 */
export function toLangGraphMessages(all: readonly Message[]): GraphMessage[] {
  const messages = withoutProviderCalls(tellOfCuts(all));
  const results = resultsIn(messages);
  return messages.flatMap((message) => {
    if (message.role === 'assistant') return toParts(message, results);
    // The results are put behind their calls.
    return message.role === 'tool' ? [] : [toPlain(message)];
  });
}

function toPlain({ id, role, content }: Message): GraphMessage {
  return { role, id, content: simplest(content.map(toGraphContent).filter((piece) => piece !== null)) };
}

/** Providers that know only text expect a string. */
function simplest(content: GraphContent[]): string | GraphContent[] {
  const [only] = content;
  if (!only) return '';
  return content.length === 1 && only.type === 'text' ? (only.text as string) : content;
}

/** The messages of one answer in order: text and calls, then the results. */
function toParts({ id, content }: Message, results: Results): GraphMessage[] {
  const parts: GraphMessage[] = [];
  const nextId = (): string => (parts.length === 0 ? id : `${id}/${parts.length}`);
  for (const round of roundsOf(content)) {
    const said = round.said.map(toGraphContent).filter((piece) => piece !== null);
    const calls = round.calls.map(({ callId, name, input }) => ({
      type: 'tool_call' as const,
      id: callId,
      name,
      args: input,
    }));
    if (said.length === 0 && calls.length === 0) continue;
    const called = calls.length > 0 && { tool_calls: calls };
    parts.push({ role: 'assistant', id: nextId(), content: simplest(said), ...called });
    for (const call of round.calls) {
      const result = results.get(call);
      if (result) parts.push(toToolMessage(result, nextId()));
    }
  }
  return parts;
}

/** A tool's result for a model. */
export function toToolMessage(
  { callId, name, output, isError }: Omit<ToolResultBlock, 'type'>,
  id?: string,
): GraphToolMessage {
  const text = typeof output === 'string';
  return {
    role: 'tool',
    ...(id !== undefined && { id }),
    tool_call_id: callId,
    name,
    content: text ? output : JSON.stringify(output ?? null),
    status: isError ? 'error' : 'success',
    // Distinguishes JSON from a text that looks like it. Integrations do not send fields here that they do not know.
    ...(!text && { additional_kwargs: { json: true } }),
  };
}

/**
 * Converts messages of a graph, which may be instances of LangChain's classes or objects like them. The parts of one answer, its tool
 * results among them, become one message. Messages of other kinds are left out.
 */
export function fromLangGraphMessages(messages: readonly unknown[]): ConvertedMessage[] {
  const all: { id?: string; role: Role; content: ContentBlock[] }[] = [];
  const names = new Map<string, string>();
  let before: GraphMessage = {};
  for (const message of messages as readonly GraphMessage[]) {
    const kind = roleOf(message);
    if (!kind) continue;
    const role = kind === 'tool' ? 'assistant' : kind;
    const content = kind === 'tool' ? [fromToolMessage(message, names)] : fromMessage(message, names);
    const last = all.at(-1);
    const goesOn = kind === 'tool' || continues(last?.id, before, message.id);
    if (role === 'assistant' && last?.role === 'assistant' && goesOn) last.content.push(...content);
    else all.push({ ...(message.id !== undefined && { id: message.id }), role, content });
    before = message;
  }
  return all;
}

/** Whether an assistant message continues an answer: by its part number if this adapter wrote it, else because a tool's result precedes it. */
function continues(first: string | undefined, before: GraphMessage, id: string | undefined): boolean {
  if (first === undefined || id === undefined || isPart(first, id)) return true;
  return roleOf(before) === 'tool' && !isPart(first, before.id ?? '');
}

function isPart(first: string, id: string): boolean {
  return id.startsWith(first) && /^\/\d+$/.test(id.slice(first.length));
}

function fromMessage(message: GraphMessage, names: Map<string, string>): ContentBlock[] {
  const calls = (message.tool_calls ?? []).map(({ id: callId = '', name, args }): ContentBlock => {
    names.set(callId, name);
    return { type: 'tool_use', callId, name, input: args };
  });
  return [...fromGraphContent(message), ...calls];
}

function fromToolMessage(message: GraphMessage, names: ReadonlyMap<string, string>): ToolResultBlock {
  const callId = message.tool_call_id ?? '';
  return {
    type: 'tool_result',
    callId,
    name: message.name ?? names.get(callId) ?? '',
    output: outputOf(message),
    isError: message.status === 'error',
  };
}

/** The content of a tool's message: a text, or content blocks if the tool gave some. */
export function outputOf({ content, additional_kwargs: extra }: GraphMessage): unknown {
  if (typeof content !== 'string' || extra?.json !== true) return content ?? null;
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
