import type { ContentBlock, ToolUseBlock, Usage } from '../../../shared/messages.js';
import type { AppEvent, AppResult } from '../../apps/application.js';
import type { ChatFinishReason, ChatUsage } from '../../chat-format/chat-types.js';
import { fromChatUsage, fromFinishReason, readArguments } from '../../chat-format/from-chat.js';
import type { ModelAnswer } from '../../diagnostics/messages.js';
import { newCallId } from '../../ids.js';
import { upstreamFailed } from '../upstream-failed.js';

/** A piece of a tool call. Some endpoints omit fields that others always send. */
interface CallFragment {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null };
}

/** A chunk of a streamed completion, from OpenAI or a compatible endpoint. */
export interface CompletionChunk {
  readonly id?: string;
  readonly model?: string;
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly refusal?: string | null;
      /** Reasoning, under the two names that are used outside of OpenAI. */
      readonly reasoning_content?: string | null;
      readonly reasoning?: string | null;
      readonly tool_calls?: readonly CallFragment[] | null;
    };
    readonly finish_reason?: ChatFinishReason | null;
  }[];
  readonly usage?: ChatUsage | null;
}

interface CompletionCall {
  id: string;
  name: string;
  text: string;
}

/** One answer of the model. Reads its stream, and keeps the parts that the next step of the conversation needs. */
export class Completion {
  readonly #calls: CompletionCall[] = [];
  readonly #at = new Map<number, CompletionCall>();
  #text = '';
  #reasoning = '';
  #finished: ChatFinishReason | null = null;
  #usage: Usage | null = null;
  #id: string | undefined;
  #model: string | undefined;

  /** @throws GatewayError `UPSTREAM_FAILED` for a stream that ends before the answer does */
  async *read(chunks: AsyncIterable<CompletionChunk>): AsyncGenerator<string | AppEvent, void> {
    for await (const { id, model, choices, usage } of chunks) {
      this.#id ||= id;
      this.#model ||= model;
      const [choice] = choices ?? [];
      const { content, refusal, reasoning_content, reasoning, tool_calls } = choice?.delta ?? {};
      const thought = reasoning_content || reasoning;
      if (thought) {
        this.#reasoning += thought;
        yield { type: 'reasoning_delta', delta: thought };
      }
      const text = content || refusal;
      if (text) {
        this.#text += text;
        yield text;
      }
      for (const fragment of tool_calls ?? []) this.#collect(fragment);
      this.#finished = choice?.finish_reason ?? this.#finished;
      // Some endpoints send growing counts with every chunk.
      if (usage) this.#usage = fromChatUsage(usage);
    }
    if (this.#finished === null) throw upstreamFailed('The stream ended before the answer did');
  }

  get stopReason(): NonNullable<AppResult['stopReason']> {
    return fromFinishReason(this.#finished);
  }

  get usage(): Usage | null {
    return this.#usage;
  }

  /** The text, if there was any. */
  get said(): readonly ContentBlock[] {
    return this.#text === '' ? [] : [{ type: 'text', text: this.#text }];
  }

  /** The whole answer, for observers. @param calls The calls that it counts as having made. */
  told(calls: readonly ToolUseBlock[]): ModelAnswer {
    const thought: ContentBlock[] =
      this.#reasoning === '' ? [] : [{ type: 'reasoning', text: this.#reasoning }];
    return {
      id: this.#id,
      model: this.#model,
      finishReasons: this.#finished === null ? [] : [this.#finished],
      ...(this.#usage && { usage: this.#usage }),
      content: [...thought, ...this.said, ...calls],
    };
  }

  /**
   * The calls that the model wants to make. Empty for a truncated answer, whose last call may be incomplete.
   *
   * @param taken Ids of earlier calls: some models reuse theirs.
   */
  calls(taken: ReadonlySet<string>): ToolUseBlock[] {
    if (this.#finished === 'length' || this.#finished === 'content_filter') return [];
    const used = new Set(taken);
    return this.#calls.map(({ id, name, text }) => {
      const callId = id === '' || used.has(id) ? newCallId() : id;
      used.add(callId);
      return { type: 'tool_use', callId, name, input: readArguments(text) };
    });
  }

  #collect({ index = 0, id, function: called }: CallFragment): void {
    let call = this.#at.get(index);
    if (!call || isAnother(call, id, called)) {
      call = { id: '', name: '', text: '' };
      this.#calls.push(call);
      this.#at.set(index, call);
    }
    if (id) call.id = id;
    if (called?.name) call.name = called.name;
    call.text += called?.arguments ?? '';
  }
}

/** Whether a piece begins another call than the one whose place it names: some endpoints give all calls one index, and one id or none. */
function isAnother(
  { id, name, text }: CompletionCall,
  nextId: CallFragment['id'],
  next: CallFragment['function'],
): boolean {
  if (nextId && id !== '' && nextId !== id) return true;
  if (!next?.name || name === '') return false;
  // Others repeat the id and the name in each piece of a call.
  const isRepeated = next.name === name && (!next.arguments || text === '') && nextId === id;
  return !isRepeated && (next.name !== name || isWhole(text));
}

/** Whether arguments are complete. */
function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
