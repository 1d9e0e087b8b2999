import type { AgentInputItem } from '@openai/agents';
import type { ContentBlock, Message, Role, ToolResultBlock, ToolUseBlock } from '../../../shared/messages.js';
import { tellOfCuts } from '../../chat-format/cut-answers.js';
import {
  type Results,
  type Round,
  resultsIn,
  roundsOf,
  withoutProviderCalls,
} from '../../chat-format/rounds.js';
import { fromUserContent, toUserContent } from './user-content.js';

type FunctionCall = Extract<AgentInputItem, { type: 'function_call' }>;
type FunctionCallResult = Extract<AgentInputItem, { type: 'function_call_result' }>;
type AssistantMessage = Extract<AgentInputItem, { role: 'assistant' }>;
type ReasoningItem = Extract<AgentInputItem, { type: 'reasoning' }>;

/** A converted message: items have no place for the other fields. */
export type ConvertedMessage = Pick<Message, 'role' | 'content'>;

/**
 * Converts messages to items of the Agents SDK. An answer becomes several: its text, its calls, and their results behind them. Blocks
 * without a counterpart are left out: `data` blocks, resources without text, results without a call. After a truncated answer, the user's
 * next message says so.
 */
export function toAgentItems(all: readonly Message[]): AgentInputItem[] {
  const messages = withoutProviderCalls(tellOfCuts(all));
  const results = resultsIn(messages);
  return messages.flatMap(({ role, content }): AgentInputItem[] => {
    if (role === 'assistant') return roundsOf(content).flatMap((round) => toRound(round, results));
    // The results are put behind their calls.
    if (role === 'tool') return [];
    if (role === 'user') return [{ role, content: toUserContent(content) }];
    return [{ role, content: content.map((block) => (block.type === 'text' ? block.text : '')).join('') }];
  });
}

function toRound({ said, calls }: Round, results: Results): AgentInputItem[] {
  const items: AgentInputItem[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) items.push(toSaid(texts));
    texts = [];
  };
  for (const block of said) {
    if (block.type === 'text') texts.push(block.text);
    if (block.type !== 'reasoning') continue;
    flush();
    const rawContent = [{ type: 'reasoning_text' as const, text: block.text }];
    items.push({ type: 'reasoning', content: [], rawContent });
  }
  flush();
  items.push(...calls.map(toCall));
  for (const call of calls) {
    const result = results.get(call);
    if (result) items.push(toResult(result));
  }
  return items;
}

function toSaid(texts: readonly string[]): AssistantMessage {
  const content = texts.map((text) => ({ type: 'output_text' as const, text }));
  return { role: 'assistant', status: 'completed', content };
}

function toCall({ callId, name, input }: ToolUseBlock): FunctionCall {
  return { type: 'function_call', callId, name, arguments: JSON.stringify(input ?? {}), status: 'completed' };
}

function toResult({ callId, name, output, isError }: ToolResultBlock): FunctionCallResult {
  return {
    type: 'function_call_result',
    callId,
    name,
    status: isError ? 'incomplete' : 'completed',
    // The SDK writes texts as objects, so a plain string is JSON from the gateway.
    output: typeof output === 'string' ? { type: 'text', text: output } : JSON.stringify(output ?? null),
  };
}

/** Converts items of the Agents SDK to messages. The items of one answer become one message. Items of other kinds are left out. */
export function fromAgentItems(items: readonly AgentInputItem[]): ConvertedMessage[] {
  const all: { role: Role; content: ContentBlock[] }[] = [];
  for (const item of items) {
    const role = roleOf(item);
    const content = role === null ? [] : contentOf(item);
    const last = all.at(-1);
    if (role === null || (role === 'assistant' && content.length === 0)) continue;
    if (role === 'assistant' && last?.role === role) last.content.push(...content);
    else all.push({ role, content });
  }
  return all;
}

function roleOf(item: AgentInputItem): Role | null {
  if ('role' in item) return item.role;
  const { type } = item;
  return type === 'function_call' || type === 'function_call_result' || type === 'reasoning'
    ? 'assistant'
    : null;
}

function contentOf(item: AgentInputItem): ContentBlock[] {
  if ('role' in item) {
    if (item.role === 'user') return fromUserContent(item.content);
    if (item.role === 'system') return [{ type: 'text', text: item.content }];
    return saidIn(item);
  }
  if (item.type === 'reasoning') return reasoningIn(item).map((text) => ({ type: 'reasoning', text }));
  if (item.type === 'function_call') return [callIn(item)];
  return item.type === 'function_call_result' ? [resultIn(item)] : [];
}

/** The text of an agent's message, including a refusal. */
export function saidIn({ content }: AssistantMessage): ContentBlock[] {
  return content.flatMap((part): ContentBlock[] => {
    if (part.type === 'output_text') return [{ type: 'text', text: part.text }];
    return part.type === 'refusal' ? [{ type: 'text', text: part.refusal }] : [];
  });
}

/** The texts of a model's reasoning, or of its summary. */
export function reasoningIn({ content, rawContent }: ReasoningItem): string[] {
  const parts = rawContent && rawContent.length > 0 ? rawContent : content;
  return parts.map(({ text }) => text).filter((text) => text !== '');
}

function callIn({ callId, name, arguments: input }: FunctionCall): ToolUseBlock {
  return { type: 'tool_use', callId, name, input: parseJson(input) };
}

function resultIn({ callId, name, output, status }: FunctionCallResult): ToolResultBlock {
  return { type: 'tool_result', callId, name, output: outputIn(output), isError: status === 'incomplete' };
}

function outputIn(output: FunctionCallResult['output']): unknown {
  if (typeof output === 'string') return parseJson(output);
  return !Array.isArray(output) && output.type === 'text' ? output.text : output;
}

/** Parsed JSON, or the text itself if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
