import type { RunItemStreamEvent, RunStreamEvent } from '@openai/agents';
import type { Usage } from '../../../shared/messages.js';
import type { AppEvent, AppResult } from '../../apps/application.js';
import type { ChatUsage } from '../../chat-format/chat-types.js';
import { fromChatUsage } from '../../chat-format/from-chat.js';
import { fittingId } from '../../ids.js';
import { parseJson, reasoningIn, saidIn } from './items.js';
import { ModelPlace } from './next-model.js';

type RunItem = RunItemStreamEvent['item'];

export interface AgentReaderOptions {
  /** Names of tools whose calls the turn logs itself. */
  readonly loggedElsewhere: ReadonlySet<string>;
  readonly usage: (counts: Usage) => void;
}

interface CallItem {
  readonly type: string;
  readonly id?: string;
  readonly callId?: string;
  readonly name?: string;
  readonly arguments?: unknown;
  readonly action?: unknown;
  readonly status?: string;
  readonly output?: unknown;
}

/** The sum of one detail of token counts, which the SDK gives as an object, or as one for each request. */
function sumOf(details: unknown, name: string): number {
  const all = (Array.isArray(details) ? details : [details]) as readonly (
    | Readonly<Record<string, unknown>>
    | undefined
  )[];
  return all.reduce((sum, each) => sum + (Number(each?.[name]) || 0), 0);
}

/** The model that an event of the provider names: of chat completions, or of the Responses API. */
function modelIn(event: unknown): string | undefined {
  const { model, response } = (event ?? {}) as {
    readonly model?: unknown;
    readonly response?: { readonly model?: unknown };
  };
  const named = model ?? response?.model;
  return typeof named === 'string' ? named : undefined;
}

/** The token counts in an event of chat completions. */
const usedIn = (event: unknown): ChatUsage | null | undefined =>
  (event as { readonly usage?: ChatUsage | null } | null)?.usage;

/** Turns the events of a streamed run into the items of an app. */
export class RunReader {
  readonly #options: AgentReaderOptions;
  readonly #names = new Map<string, string>();
  readonly #logged = new Map<string, string>();
  /** The kinds of content that the present answer has streamed. The SDK's items repeat the whole content. */
  #streamed = { text: false, reasoning: false };
  #truncated = false;
  #model: string | undefined;
  /** The counts of the present answer, which the SDK gives with a whole one alone. */
  #used: ChatUsage | null = null;

  constructor(options: AgentReaderOptions) {
    this.#options = options;
  }

  /** Whether the model's last answer was truncated because of its length. */
  get isTruncated(): boolean {
    return this.#truncated;
  }

  get result(): AppResult {
    return { stopReason: this.#truncated ? 'max_tokens' : 'end' };
  }

  read(event: RunStreamEvent): readonly AppEvent[] {
    if (event.type === 'run_item_stream_event') return this.#item(event);
    return event.type === 'raw_model_stream_event' ? this.#raw(event.data) : [];
  }

  /** Notes the new id of a call. The log keeps the first id. */
  renamed(from: string, to: string): void {
    this.#logged.set(fittingId(to), fittingId(from));
  }

  #raw(data: Extract<RunStreamEvent, { type: 'raw_model_stream_event' }>['data']): readonly AppEvent[] {
    switch (data.type) {
      case 'response_started':
        this.#streamed = { text: false, reasoning: false };
        this.#truncated = false;
        return [];
      case 'output_text_delta':
        this.#streamed.text = true;
        return [{ type: 'content_delta', delta: data.delta }];
      case 'response_done': {
        const { inputTokens, outputTokens, totalTokens, ...details } = data.response.usage;
        const cached = sumOf(details.inputTokensDetails, 'cached_tokens');
        const reasoning = sumOf(details.outputTokensDetails, 'reasoning_tokens');
        this.#options.usage({
          ...(this.#model !== undefined && { model: this.#model }),
          ...{ inputTokens, outputTokens, totalTokens },
          ...(cached > 0 && { cachedInputTokens: cached }),
          ...(reasoning > 0 && { reasoningTokens: reasoning }),
        });
        return [];
      }
      case 'model': {
        if (data.event instanceof ModelPlace) return this.#at(data.event);
        this.#truncated ||= isTruncated(data.event);
        this.#model = modelIn(data.event) ?? this.#model;
        this.#used = usedIn(data.event) ?? this.#used;
        const delta = reasoningDelta(data.event);
        if (delta === '') return [];
        this.#streamed.reasoning = true;
        return [{ type: 'reasoning_delta', delta }];
      }
      default:
        return [];
    }
  }

  /** Does what is to be done at a place of the stream, and tells what a model that failed there has used, if it has said so. */
  #at(place: ModelPlace): readonly AppEvent[] {
    place.reached();
    if (place.failed && this.#used)
      this.#options.usage({
        ...(this.#model !== undefined && { model: this.#model }),
        ...fromChatUsage(this.#used),
      });
    this.#used = null;
    this.#model = undefined;
    return [];
  }

  #item({ name, item }: RunItemStreamEvent): readonly AppEvent[] {
    switch (name) {
      case 'message_output_created':
        return this.#streamed.text || item.type !== 'message_output_item'
          ? []
          : saidIn(item.rawItem).flatMap((block) =>
              block.type === 'text' ? [{ type: 'content_delta' as const, delta: block.text }] : [],
            );
      case 'reasoning_item_created':
        return this.#streamed.reasoning || item.type !== 'reasoning_item'
          ? []
          : reasoningIn(item.rawItem).map((delta) => ({ type: 'reasoning_delta' as const, delta }));
      case 'tool_called':
        return this.#called(item.rawItem as unknown as CallItem);
      case 'tool_output':
        return this.#answered(item);
      case 'handoff_occurred':
        return handoff(item);
      default:
        return [];
    }
  }

  #called(raw: CallItem): readonly AppEvent[] {
    const callId = idOf(raw);
    const name = raw.name ?? raw.type;
    this.#names.set(callId, name);
    if (this.#options.loggedElsewhere.has(name)) return [];
    const input = typeof raw.arguments === 'string' ? parseJson(raw.arguments) : raw.arguments;
    const call = { type: 'tool_use' as const, callId, name, input: input ?? raw.action ?? {} };
    // The call of a hosted tool comes with its result.
    return raw.type === 'hosted_tool_call'
      ? [
          call,
          { type: 'tool_result', callId, name, output: raw.output ?? null, isError: raw.status === 'failed' },
        ]
      : [call];
  }

  #answered(item: RunItem): readonly AppEvent[] {
    if (item.type !== 'tool_call_output_item') return [];
    const raw = item.rawItem as unknown as CallItem;
    const id = idOf(raw);
    const callId = this.#logged.get(id) ?? id;
    const name = raw.name ?? this.#names.get(callId) ?? raw.type;
    if (this.#options.loggedElsewhere.has(name)) return [];
    return [
      { type: 'tool_result', callId, name, output: plain(item.output), isError: raw.status === 'incomplete' },
    ];
  }
}

/** A hand-over is part of the answer, so that an app can see in the history which agent spoke last. */
function handoff(item: RunItem): readonly AppEvent[] {
  if (item.type !== 'handoff_output_item') return [];
  const value = { from: item.sourceAgent.name, to: item.targetAgent.name };
  return [{ type: 'data', id: idOf(item.rawItem as unknown as CallItem), name: 'handoff', value }];
}

function idOf({ callId, id }: CallItem): string {
  return fittingId(callId ?? id ?? '');
}

/** A tool's result as JSON. */
function plain(output: unknown): unknown {
  if (typeof output === 'string') return output;
  try {
    return JSON.parse(JSON.stringify(output ?? null));
  } catch {
    return String(output);
  }
}

/** The reasoning in an event of a provider: of the Responses API, or of chat completions, which have no agreed field for it. */
function reasoningDelta(event: any): string {
  const responses = ['response.reasoning_summary_text.delta', 'response.reasoning_text.delta'];
  const chat = event?.choices?.[0]?.delta;
  const delta = responses.includes(event?.type) ? event.delta : (chat?.reasoning_content ?? chat?.reasoning);
  return typeof delta === 'string' ? delta : '';
}

function isTruncated(event: any): boolean {
  return (
    event?.choices?.[0]?.finish_reason === 'length' ||
    event?.response?.incomplete_details?.reason === 'max_output_tokens'
  );
}
