import type { ContentBlock, ToolUseBlock, Usage } from '../../../shared/messages.js';
import type { AppEvent, AppResult } from '../../apps/application.js';
import { readArguments } from '../../chat-format/from-chat.js';
import type { ModelAnswer } from '../../diagnostics/messages.js';
import { fittingId, newCallId } from '../../ids.js';
import type { ModelReader } from '../model-caller.js';
import { upstreamFailed } from '../upstream-failed.js';
import type { AnthropicBlock, AnthropicEvent } from './sdk.js';

/** A block of the answer, as it grows. */
type GrowingBlock = { type: string } & Record<string, unknown>;

/** One answer of the model. Keeps its blocks as they are, because the API wants them back: signatures of what was thought, calls of its own tools. */
export class AnthropicAnswer implements ModelReader<readonly AnthropicBlock[]> {
  readonly #blocks = new Map<number, GrowingBlock>();
  /** The input of each call, in JSON, as far as it was said. */
  readonly #inputs = new Map<GrowingBlock, string>();
  readonly #counts: Record<string, unknown> = {};
  #id: string | undefined;
  #model: string | undefined;
  #stopped: string | null = null;
  #isOver = false;

  /** @throws GatewayError `UPSTREAM_FAILED` for a stream that ends before the answer does, and for pieces of a block that has not begun */
  async *read(events: AsyncIterable<AnthropicEvent>): AsyncGenerator<string | AppEvent, void> {
    for await (const event of events) {
      switch (event.type) {
        case 'message_start':
          this.#id = event.message.id;
          this.#model = event.message.model;
          this.#count(event.message.usage);
          break;
        case 'content_block_start': {
          const block = { ...event.content_block } as unknown as GrowingBlock;
          this.#blocks.set(event.index, block);
          yield* begunWith(block);
          break;
        }
        case 'content_block_delta':
          yield* this.#grow(this.#block(event.index), event.delta);
          break;
        case 'content_block_stop':
          yield* this.#end(this.#block(event.index));
          break;
        case 'message_delta':
          this.#stopped = event.delta.stop_reason ?? this.#stopped;
          this.#count(event.usage);
          break;
        case 'message_stop':
          this.#isOver = true;
          break;
        default:
      }
    }
    if (!this.#isOver) throw upstreamFailed('The stream ended before the answer did');
  }

  #block(index: number): GrowingBlock {
    const block = this.#blocks.get(index);
    if (!block) throw upstreamFailed(`The block ${index} has not begun`);
    return block;
  }

  *#grow(
    block: GrowingBlock,
    delta: Extract<AnthropicEvent, { type: 'content_block_delta' }>['delta'],
  ): Iterable<string | AppEvent> {
    const add = (field: string, text: string): void => {
      block[field] = `${block[field] ?? ''}${text}`;
    };
    switch (delta.type) {
      case 'text_delta':
        add('text', delta.text);
        if (delta.text !== '') yield delta.text;
        break;
      case 'thinking_delta':
        add('thinking', delta.thinking);
        if (delta.thinking !== '') yield { type: 'reasoning_delta', delta: delta.thinking };
        break;
      case 'signature_delta':
        add('signature', delta.signature);
        break;
      case 'citations_delta':
        block.citations = [...((block.citations as unknown[] | null) ?? []), delta.citation];
        break;
      case 'input_json_delta':
        this.#inputs.set(block, `${this.#inputs.get(block) ?? ''}${delta.partial_json}`);
        break;
      default:
    }
  }

  *#end(block: GrowingBlock): Iterable<AppEvent> {
    const text = this.#inputs.get(block) ?? '';
    if (text !== '') block.input = readArguments(text);
    yield* calledThere(block, this.#all);
  }

  #count(usage: object | null | undefined): void {
    for (const [name, value] of Object.entries(usage ?? {})) if (value != null) this.#counts[name] = value;
  }

  get #all(): GrowingBlock[] {
    return [...this.#blocks.values()];
  }

  get stopReason(): NonNullable<AppResult['stopReason']> {
    if (this.#stopped === 'max_tokens' || this.#stopped === 'model_context_window_exceeded')
      return 'max_tokens';
    return this.#stopped === 'tool_use' ? 'tool_use' : 'end';
  }

  /** Whether the model was interrupted in work of its provider, and goes on when it is asked again. */
  get isPaused(): boolean {
    return this.#stopped === 'pause_turn';
  }

  get usage(): Usage | null {
    const count = (name: string): number => (typeof this.#counts[name] === 'number' ? this.#counts[name] : 0);
    if (Object.keys(this.#counts).length === 0) return null;
    const cachedInputTokens = count('cache_read_input_tokens');
    const inputTokens = count('input_tokens') + cachedInputTokens + count('cache_creation_input_tokens');
    const outputTokens = count('output_tokens');
    const thought = (this.#counts.output_tokens_details as { readonly thinking_tokens?: unknown } | undefined)
      ?.thinking_tokens;
    return {
      ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
      ...(this.#counts.cache_read_input_tokens !== undefined && { cachedInputTokens }),
      ...(typeof thought === 'number' && { reasoningTokens: thought }),
    };
  }

  /** Its blocks, for the next request. The API refuses empty text. */
  get said(): readonly AnthropicBlock[] {
    return this.#all.filter(
      ({ type, text }) => type !== 'text' || String(text).trim() !== '',
    ) as unknown as AnthropicBlock[];
  }

  /** The calls that the model wants to make. None of a truncated answer, whose last call may be incomplete. An id that was there gets another one. */
  calls(taken: ReadonlySet<string>): ToolUseBlock[] {
    if (this.#stopped === 'refusal' || this.stopReason === 'max_tokens') return [];
    const used = new Set(taken);
    return this.#all
      .filter(({ type }) => type === 'tool_use')
      .map((block) => {
        const { id, name, input } = block;
        const callId = typeof id !== 'string' || id === '' || used.has(id) ? newCallId() : id;
        used.add(callId);
        block.id = callId;
        return { type: 'tool_use', callId, name: String(name), input };
      });
  }

  told(calls: readonly ToolUseBlock[]): ModelAnswer {
    const textOf = (field: 'text' | 'thinking'): string =>
      this.#all.map((block) => String(block[field] ?? '')).join('');
    const [reasoning, text] = [textOf('thinking'), textOf('text')];
    const said: ContentBlock[] = [
      ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ];
    return {
      ...{ id: this.#id, model: this.#model, finishReasons: this.#stopped === null ? [] : [this.#stopped] },
      ...(this.usage && { usage: this.usage }),
      content: [...said, ...calls],
    };
  }
}

/** The items of a block that comes as a whole: text, thoughts. */
function* begunWith({ text, thinking }: GrowingBlock): Iterable<string | AppEvent> {
  if (typeof text === 'string' && text !== '') yield text;
  if (typeof thinking === 'string' && thinking !== '') yield { type: 'reasoning_delta', delta: thinking };
}

/** A call that the provider makes itself, and its result. */
function* calledThere(block: GrowingBlock, all: readonly GrowingBlock[]): Iterable<AppEvent> {
  const { type, id, name, input, tool_use_id: calledBy, content } = block;
  if (type === 'server_tool_use') {
    const callId = fittingId(String(id));
    yield { type: 'tool_use', callId, name: String(name), input, providerExecuted: true };
  } else if (typeof calledBy === 'string') {
    const called = all.find((other) => other.id === calledBy);
    const isError = String((content as { readonly type?: unknown } | null)?.type).endsWith('_error');
    const callId = fittingId(calledBy);
    yield { type: 'tool_result', callId, name: String(called?.name), output: content, isError };
  }
}

/** The items of an answer, from its blocks. */
export function* saidAgain(said: readonly AnthropicBlock[]): Iterable<string | AppEvent> {
  const all = said as unknown as readonly GrowingBlock[];
  for (const block of all) {
    yield* begunWith(block);
    yield* calledThere(block, all);
  }
}
