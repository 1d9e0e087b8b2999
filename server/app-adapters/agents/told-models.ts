import type { Agent, CallModelInputFilter, RunStreamEvent } from '@openai/agents';
import type { ContentBlock } from '../../../shared/messages.js';
import type { Turn } from '../../apps/application.js';
import type { ModelSettings } from '../../diagnostics/messages.js';
import { ModelCall } from '../../diagnostics/model-call.js';
import { settingsOf } from '../asked-model.js';
import { upstreamFailed } from '../upstream-failed.js';
import { parseJson, reasoningIn, saidIn } from './items.js';
import { ModelPlace, nameOf } from './next-model.js';

type Raw = Extract<RunStreamEvent, { type: 'raw_model_stream_event' }>['data'];
type DoneResponse = Extract<Raw, { type: 'response_done' }>['response'];

/** Reports the calls of models in a run of the SDK, one at a time, whichever agent makes them. */
export class ToldModels {
  readonly #turn: Turn;
  #call: ModelCall | null = null;
  #finishReason: string | undefined;
  #model: string | undefined;
  #settings: ModelSettings = {};

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** A filter that reads the input of a call and leaves it unchanged. @param own The host's own filter */
  filter(own: CallModelInputFilter<any> | undefined): CallModelInputFilter<any> {
    return async (given) => {
      const data = own ? await own(given) : given.modelData;
      this.#begin(given.agent);
      return data;
    };
  }

  read(event: RunStreamEvent): void {
    if (event.type !== 'raw_model_stream_event') return;
    const { data } = event;
    if (data.type === 'output_text_delta') this.#call?.delta();
    else if (data.type === 'model') this.#raw(data.event);
    else if (data.type === 'response_done') this.#done(data.response);
  }

  failed(error: unknown): void {
    this.#call?.fail(upstreamFailed(error));
    this.#call = null;
  }

  #begin({ model, modelSettings }: Agent<any, any>): void {
    this.#settings = settingsOf(modelSettings as Readonly<Record<string, unknown>>);
    this.#ask(nameOf(model));
  }

  #ask(model: string | undefined): void {
    this.#finishReason = undefined;
    this.#model = undefined;
    this.#call = new ModelCall(this.#turn, {
      adapter: 'agents',
      provider: 'openai',
      model,
      settings: this.#settings,
    });
    this.#call.during(() => {});
  }

  /** Reads an event of the provider: of chat completions, or of the Responses API. */
  #raw(event: any): void {
    if (event instanceof ModelPlace) {
      if (!event.failed) return;
      this.failed(event.failed.error);
      return this.#ask(nameOf(event.failed.next));
    }
    this.#finishReason = event?.choices?.[0]?.finish_reason ?? event?.response?.status ?? this.#finishReason;
    this.#model = event?.model ?? event?.response?.model ?? this.#model;
  }

  #done({ id, usage, output }: DoneResponse): void {
    const { inputTokens, outputTokens } = usage;
    this.#call?.done({
      id,
      model: this.#model,
      finishReasons: this.#finishReason === undefined ? [] : [this.#finishReason],
      usage: { inputTokens, outputTokens },
      content: output.flatMap((item): ContentBlock[] => {
        if (item.type === 'reasoning') return reasoningIn(item).map((text) => ({ type: 'reasoning', text }));
        if (item.type === 'function_call') {
          const { callId, name, arguments: text } = item;
          return [{ type: 'tool_use', callId, name, input: parseJson(text) }];
        }
        return 'role' in item && item.role === 'assistant' ? saidIn(item) : [];
      }),
    });
    this.#call = null;
  }
}
