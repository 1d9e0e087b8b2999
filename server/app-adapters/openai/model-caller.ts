import type { ContentBlock, ToolUseBlock, Usage } from '../../../shared/messages.js';
import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import { channels } from '../../diagnostics/channels.js';
import { ModelCall } from '../../diagnostics/model-call.js';
import { serverOf, settingsOf } from '../asked-model.js';
import { type ItemGenerator, streamedStep } from '../streamed-step.js';
import { traceHeaders } from '../trace-headers.js';
import { Unsaid } from '../unsaid.js';
import { upstreamFailed } from '../upstream-failed.js';
import { Completion, type CompletionChunk } from './completion.js';
import type { OpenAIClient } from './sdk.js';

/** A question to the model with its answer, as far as the next step of the conversation needs it. */
export interface Answered {
  readonly said: readonly ContentBlock[];
  readonly calls: readonly ToolUseBlock[];
  readonly stopReason: NonNullable<AppResult['stopReason']>;
  readonly usage: Usage | null;
  /** Characters of text and of reasoning that clients received. */
  readonly told: { readonly text: number; readonly reasoning: number };
}

/** Asks the model in one run. In a resumable app, each time is a step. */
export class ModelCaller {
  readonly #turn: Turn;
  readonly #client: OpenAIClient;
  readonly #durable: boolean;
  /** Content that a former process sent from answers that may be incomplete. */
  #left: { text: string; reasoning: string };

  constructor(turn: Turn, client: OpenAIClient, durable: boolean) {
    this.#turn = turn;
    this.#client = client;
    this.#durable = durable;
    const toldOf = (type: 'text' | 'reasoning'): string =>
      (turn.resumed?.content ?? []).map((block) => (block.type === type ? block.text : '')).join('');
    this.#left = { text: toldOf('text'), reasoning: toldOf('reasoning') };
  }

  /**
   * Asks once and yields the model's answer, except for the part that a former process has sent.
   *
   * @param taken Ids of earlier calls.
   */
  async *ask(
    request: Readonly<Record<string, unknown>>,
    taken: ReadonlySet<string>,
  ): ItemGenerator<Answered> {
    const left = this.#left;
    const answered = this.#durable
      ? yield* streamedStep(this.#turn, 'model', ({ interrupted }) =>
          this.#read(request, taken, interrupted ? left : { text: '', reasoning: '' }),
        )
      : yield* this.#read(request, taken, { text: '', reasoning: '' });
    const { told, usage } = answered;
    this.#left = { text: left.text.slice(told.text), reasoning: left.reasoning.slice(told.reasoning) };
    if (usage) this.#turn.usage(usage);
    return answered;
  }

  /** @param said Content of this answer that was sent before it was cut off. */
  async *#read(
    request: Readonly<Record<string, unknown>>,
    taken: ReadonlySet<string>,
    said: { readonly text: string; readonly reasoning: string },
  ): ItemGenerator<Answered> {
    const { signal } = this.#turn;
    const completion = new Completion();
    const text = new Unsaid(said.text);
    const reasoning = new Unsaid(said.reasoning);
    const told = { text: said.text.length, reasoning: said.reasoning.length };
    const say = function* (item: string | AppEvent): Iterable<string | AppEvent> {
      const isText = typeof item === 'string';
      if (!isText && item.type !== 'reasoning_delta') return yield item;
      const rest = isText ? text.take(item) : reasoning.take(item.delta);
      told[isText ? 'text' : 'reasoning'] += rest.length;
      if (rest !== '') yield isText ? rest : { type: 'reasoning_delta', delta: rest };
    };
    const call = channels.model.hasSubscribers ? this.#call(request) : null;
    const ask = () =>
      this.#client.chat.completions.create({ ...request, stream: true } as never, {
        signal,
        headers: traceHeaders(this.#turn),
      });
    try {
      const chunks = await (call ? call.during(ask) : ask());
      for await (const item of completion.read(chunks as unknown as AsyncIterable<CompletionChunk>)) {
        call?.delta();
        yield* say(item);
      }
    } catch (error) {
      call?.fail(upstreamFailed(error));
      if (completion.usage) this.#turn.usage(completion.usage);
      throw upstreamFailed(error);
    }
    const { said: whole, stopReason, usage } = completion;
    const calls = completion.calls(taken);
    call?.done(completion.told(calls));
    return { said: whole, calls, stopReason, usage, told };
  }

  #call(request: Readonly<Record<string, unknown>>): ModelCall {
    const { baseURL } = this.#client as { readonly baseURL?: string };
    return new ModelCall(this.#turn, {
      adapter: 'openai',
      provider: 'openai',
      model: String(request.model),
      server: serverOf(baseURL),
      settings: settingsOf(request),
    });
  }
}
