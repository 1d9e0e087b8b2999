import type { ContentBlock, ToolUseBlock, Usage } from '../../../shared/messages.js';
import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import type { StepContext } from '../../apps/step-context.js';
import { channels } from '../../diagnostics/channels.js';
import { ModelCall } from '../../diagnostics/model-call.js';
import { serverOf, settingsOf } from '../asked-model.js';
import { NextModels } from '../next-models.js';
import { type ItemGenerator, streamedStep } from '../streamed-step.js';
import { traceHeaders } from '../trace-headers.js';
import { upstreamFailed } from '../upstream-failed.js';
import { backgroundResponse } from './background-response.js';
import { Completion } from './completion.js';
import { ResponseAnswer } from './response-answer.js';
import type { OpenAIClient, ResponsesClient } from './sdk.js';
import { toResponse } from './to-response.js';

/** A question to the model with its answer, as far as the next step of the conversation needs it. */
export interface Answered {
  readonly said: readonly ContentBlock[];
  readonly calls: readonly ToolUseBlock[];
  readonly stopReason: NonNullable<AppResult['stopReason']>;
  readonly usage: Usage | null;
  /** The model, if it is not the first that was asked. */
  readonly model?: string;
}

/** The text of an answer, for a run that has it from a former process. */
function* saidAgain({ said }: Answered): Iterable<string | AppEvent> {
  for (const block of said) {
    if (block.type === 'text') yield block.text;
    if (block.type === 'reasoning') yield { type: 'reasoning_delta', delta: block.text };
  }
}

/** Asks the model in one run. In a resumable app, each time is a step. */
export class ModelCaller {
  readonly #turn: Turn;
  readonly #client: OpenAIClient;
  readonly #durable: boolean;
  readonly #background: boolean;
  readonly #others: readonly string[];

  /** @param options `others`: models that are asked in turn if one fails */
  constructor(
    turn: Turn,
    client: OpenAIClient,
    {
      durable,
      background,
      others,
    }: { readonly durable: boolean; readonly background: boolean; readonly others: readonly string[] },
  ) {
    this.#turn = turn;
    this.#client = client;
    this.#durable = durable;
    this.#background = background;
    this.#others = others;
  }

  /**
   * Asks once and yields the model's answer.
   *
   * @param taken Ids of earlier calls.
   */
  async *ask(
    request: Readonly<Record<string, unknown>>,
    taken: ReadonlySet<string>,
  ): ItemGenerator<Answered> {
    await this.#turn.allowed();
    const answered =
      this.#durable || this.#background
        ? yield* streamedStep(this.#turn, 'model', (step) => this.#answer(request, taken, step), saidAgain)
        : yield* this.#answer(request, taken);
    const { usage, model = String(request.model) } = answered;
    // A step that ended in a former process has its usage too: the turn knows it again.
    if (usage) await this.#turn.usage({ model, ...usage });
    return answered;
  }

  /** Asks one model after the other, until one has answered to its end. Each begins with a clean answer. */
  async *#answer(
    request: Readonly<Record<string, unknown>>,
    taken: ReadonlySet<string>,
    step?: StepContext,
  ): ItemGenerator<Answered> {
    const next = new NextModels(this.#turn, this.#others);
    next.begin();
    for (let asked: Readonly<Record<string, unknown>> = request; ; ) {
      try {
        const answered = yield* this.#read(asked, taken, step);
        return asked === request ? answered : { ...answered, model: String(asked.model) };
      } catch (error) {
        asked = { ...request, model: next.after(error) };
        next.takeBack();
      }
    }
  }

  async *#read(
    request: Readonly<Record<string, unknown>>,
    taken: ReadonlySet<string>,
    step?: StepContext,
  ): ItemGenerator<Answered> {
    const completion = this.#background ? new ResponseAnswer() : new Completion();
    const call = channels.model.hasSubscribers ? this.#call(request) : null;
    const ask = () => this.#stream(request, step);
    try {
      const chunks = await (call ? call.during(ask) : ask());
      for await (const item of completion.read(chunks as AsyncIterable<never>)) {
        call?.delta();
        yield item;
      }
    } catch (error) {
      call?.fail(upstreamFailed(error));
      if (completion.usage) void this.#turn.usage({ model: String(request.model), ...completion.usage });
      throw upstreamFailed(error);
    }
    const { said: whole, stopReason, usage } = completion;
    const calls = completion.calls(taken);
    call?.done(completion.told(calls));
    return { said: whole, calls, stopReason, usage };
  }

  async #stream(
    request: Readonly<Record<string, unknown>>,
    step?: StepContext,
  ): Promise<AsyncIterable<unknown>> {
    const headers = traceHeaders(this.#turn);
    if (this.#background && step)
      return backgroundResponse(this.#client as OpenAIClient & ResponsesClient, toResponse(request), step, {
        headers,
      });
    const { signal } = this.#turn;
    return this.#client.chat.completions.create({ ...request, stream: true } as never, {
      signal,
      headers,
    }) as never;
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
