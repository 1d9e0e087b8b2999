import type { Message } from '../messages.js';
import type { AgUiMessage, AgUiPart } from './events.js';
import { toAgUiMessages } from './messages.js';

/** A part of a message of TanStack AI. */
export type TanStackPart =
  | { readonly type: 'text' | 'thinking'; readonly content: string }
  | { readonly type: 'image' | 'audio' | 'video' | 'document'; readonly source: object }
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly input: unknown;
      readonly state: 'input-complete' | 'complete';
      readonly output?: unknown;
    }
  | {
      readonly type: 'tool-result';
      readonly toolCallId: string;
      readonly content: string;
      readonly state: 'complete';
    };

/** A message as TanStack AI has it. */
export interface TanStackMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly TanStackPart[];
  readonly createdAt: string;
}

type FoldedMessage = Omit<TanStackMessage, 'parts'> & { readonly parts: TanStackPart[] };

/** Messages of a session as TanStack's client builds them from the stream: thoughts join the message after them, results their call's message. */
export function toTanStackMessages(messages: readonly Message[]): TanStackMessage[] {
  const folded: FoldedMessage[] = [];
  for (const message of messages) fold(message, folded);
  return folded;
}

function fold(message: Message, folded: FoldedMessage[]): void {
  const createdAt = new Date(message.createdAt).toISOString();
  let thoughts: TanStackPart[] = [];
  for (const said of toAgUiMessages(message)) {
    if (said.role === 'reasoning') thoughts.push({ type: 'thinking', content: said.content });
    else if (said.role === 'tool') answer(folded, said);
    else {
      const role = said.role === 'developer' ? 'system' : said.role;
      folded.push({ id: said.id, role, parts: [...thoughts, ...partsOf(said)], createdAt });
      thoughts = [];
    }
  }
  if (thoughts.length > 0)
    folded.push({ id: `${message.id}:reasoning`, role: 'assistant', parts: thoughts, createdAt });
}

function partsOf(said: Exclude<AgUiMessage, { readonly role: 'tool' }>): TanStackPart[] {
  const { content = '' } = said;
  const text: TanStackPart[] =
    typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', content }]) : content.map(partOf);
  const calls = said.role === 'assistant' ? (said.toolCalls ?? []) : [];
  return [
    ...text,
    ...calls.map(({ id, function: { name, arguments: given } }): TanStackPart => {
      return {
        type: 'tool-call',
        id,
        name,
        arguments: given,
        input: parsed(given),
        state: 'input-complete',
      };
    }),
  ];
}

function partOf(part: AgUiPart): TanStackPart {
  return part.type === 'text' ? { type: 'text', content: part.text } : part;
}

function answer(
  folded: readonly { readonly parts: TanStackPart[] }[],
  { toolCallId, content }: Extract<AgUiMessage, { readonly role: 'tool' }>,
): void {
  for (const { parts } of folded) {
    const at = parts.findIndex((part) => part.type === 'tool-call' && part.id === toolCallId);
    if (at < 0) continue;
    parts[at] = { ...(parts[at] as object), state: 'complete', output: parsed(content) } as TanStackPart;
    parts.push({ type: 'tool-result', toolCallId, content, state: 'complete' });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
