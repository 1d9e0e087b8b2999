import type { ContentBlock, ToolUseBlock, Usage } from '../../../shared/messages.js';
import type { AppEvent, AppResult } from '../../apps/application.js';
import { readArguments } from '../../chat-format/from-chat.js';
import type { ModelAnswer } from '../../diagnostics/messages.js';
import { newCallId } from '../../ids.js';
import { upstreamFailed } from '../upstream-failed.js';
import type { ResponseBody, ResponseEvent } from './sdk.js';

/** One answer of the model by the Responses API. Reads its stream, and keeps the parts that the next step of the conversation needs. */
export class ResponseAnswer {
  readonly #calls: { readonly id: string; readonly name: string; readonly text: string }[] = [];
  #text = '';
  #reasoning = '';
  #response: ResponseBody | null = null;
  #isOver = false;

  /** @throws GatewayError `UPSTREAM_FAILED` for a stream that ends before the answer does, and for an answer that failed */
  async *read(events: AsyncIterable<ResponseEvent>): AsyncGenerator<string | AppEvent, void> {
    for await (const event of events) {
      switch (event.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          this.#text += event.delta;
          yield event.delta;
          break;
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          this.#reasoning += event.delta;
          yield { type: 'reasoning_delta', delta: event.delta };
          break;
        case 'response.output_item.done':
          if (event.item.type === 'function_call') {
            const { call_id: id, name, arguments: text } = event.item;
            this.#calls.push({ id, name, text });
          }
          break;
        case 'response.created':
          this.#response = event.response;
          break;
        case 'response.completed':
        case 'response.incomplete':
          this.#response = event.response;
          this.#isOver = true;
          break;
        case 'response.failed':
          this.#response = event.response;
          throw upstreamFailed(new Error(event.response.error?.message ?? 'The response failed'));
        case 'error':
          throw upstreamFailed(new Error(event.message));
        default:
      }
    }
    if (!this.#isOver) throw upstreamFailed('The stream ended before the answer did');
  }

  get stopReason(): NonNullable<AppResult['stopReason']> {
    return this.#cut ? 'max_tokens' : this.#calls.length > 0 ? 'tool_use' : 'end';
  }

  get #cut(): boolean {
    return this.#response?.status === 'incomplete';
  }

  get usage(): Usage | null {
    const usage = this.#response?.usage;
    if (!usage) return null;
    const cached = usage.input_tokens_details?.cached_tokens;
    const reasoning = usage.output_tokens_details?.reasoning_tokens;
    return {
      ...{ inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
      totalTokens: usage.total_tokens,
      ...(cached !== undefined && { cachedInputTokens: cached }),
      ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    };
  }

  /** The text, if there was any. */
  get said(): readonly ContentBlock[] {
    return this.#text === '' ? [] : [{ type: 'text', text: this.#text }];
  }

  /** The whole answer, for observers. @param calls The calls that it counts as having made. */
  told(calls: readonly ToolUseBlock[]): ModelAnswer {
    const { id, model, status } = this.#response ?? {};
    const thought: ContentBlock[] =
      this.#reasoning === '' ? [] : [{ type: 'reasoning', text: this.#reasoning }];
    return {
      ...{ id, model, finishReasons: status ? [status] : [] },
      ...(this.usage && { usage: this.usage }),
      content: [...thought, ...this.said, ...calls],
    };
  }

  /** The calls that the model wants to make. Empty for a truncated answer. @param taken Ids of earlier calls. */
  calls(taken: ReadonlySet<string>): ToolUseBlock[] {
    if (this.#cut) return [];
    return this.#calls.map(({ id, name, text }) => ({
      type: 'tool_use',
      callId: taken.has(id) ? newCallId() : id,
      name,
      input: readArguments(text),
    }));
  }
}
