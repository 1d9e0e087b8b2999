import type { ToolUseBlock, Usage } from '../../shared/messages.js';
import type { AppEvent, AppResult, Turn } from '../apps/application.js';
import type { StepContext } from '../apps/step-context.js';
import { channels } from '../diagnostics/channels.js';
import type { ModelAnswer } from '../diagnostics/messages.js';
import { ModelCall } from '../diagnostics/model-call.js';
import { serverOf, settingsOf } from './asked-model.js';
import { NextModels } from './next-models.js';
import { type ItemGenerator, streamedStep } from './streamed-step.js';
import { upstreamFailed } from './upstream-failed.js';

/** The fields of a request to a model. */
export type RequestFields = Readonly<Record<string, unknown>>;

/** A question to the model with its answer, as far as the next step of the conversation needs it. @template Said What the model has said, in the words of its endpoint */
export interface Answered<Said> {
  readonly said: Said;
  readonly calls: readonly ToolUseBlock[];
  readonly stopReason: NonNullable<AppResult['stopReason']>;
  readonly usage: Usage | null;
  /** Whether the model has more to say to the same question. */
  readonly isPaused?: boolean;
  /** The model, if it is not the first that was asked. */
  readonly model?: string;
}

/** Reads one answer of a model from its stream, and keeps what the next step of the conversation needs. */
export interface ModelReader<Said> {
  /** Yields the answer. Throws if the stream ends before the answer does. */
  read(stream: AsyncIterable<never>): AsyncGenerator<string | AppEvent, void>;
  readonly stopReason: NonNullable<AppResult['stopReason']>;
  readonly usage: Usage | null;
  readonly isPaused?: boolean;
  readonly said: Said;
  /** The calls that the model wants to make, none of a truncated answer. It is asked for before `said`. @param taken Ids of earlier calls. */
  calls(taken: ReadonlySet<string>): ToolUseBlock[];
  /** The whole answer, for observers. @param calls The calls that it counts as having made. */
  told(calls: readonly ToolUseBlock[]): ModelAnswer;
}

/** An endpoint of models, in one dialect. */
export interface ModelEndpoint<Said> {
  /** Names the adapter to observers. */
  readonly adapter: string;
  readonly provider: string;
  readonly baseURL: unknown;
  /** Whether each time is a step. */
  readonly durable: boolean;
  /** Models that are asked in turn if one fails. */
  readonly others: readonly string[];
  stream(request: RequestFields, step?: StepContext): Promise<AsyncIterable<unknown>>;
  reader(): ModelReader<Said>;
  /** The items of an answer, for a run that has it from a former process. */
  again(said: Said): Iterable<string | AppEvent>;
}

/** Asks the model in one run. */
export class ModelCaller<Said> {
  readonly #turn: Turn;
  readonly #endpoint: ModelEndpoint<Said>;

  constructor(turn: Turn, endpoint: ModelEndpoint<Said>) {
    this.#turn = turn;
    this.#endpoint = endpoint;
  }

  /**
   * Asks once and yields the model's answer.
   *
   * @param taken Ids of earlier calls.
   */
  async *ask(request: RequestFields, taken: ReadonlySet<string>): ItemGenerator<Answered<Said>> {
    const { durable, again } = this.#endpoint;
    await this.#turn.allowed();
    const answered = durable
      ? yield* streamedStep(
          this.#turn,
          'model',
          (step) => this.#answer(request, taken, step),
          ({ said }) => again(said),
        )
      : yield* this.#answer(request, taken);
    const { usage, model = String(request.model) } = answered;
    // A step that ended in a former process has its usage too: the turn knows it again.
    if (usage) await this.#turn.usage({ model, ...usage });
    return answered;
  }

  /** Asks one model after the other, until one has answered to its end. Each begins with a clean answer. */
  async *#answer(
    request: RequestFields,
    taken: ReadonlySet<string>,
    step?: StepContext,
  ): ItemGenerator<Answered<Said>> {
    const next = new NextModels(this.#turn, this.#endpoint.others);
    next.begin();
    for (let asked = request; ; ) {
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
    request: RequestFields,
    taken: ReadonlySet<string>,
    step?: StepContext,
  ): ItemGenerator<Answered<Said>> {
    const reader = this.#endpoint.reader();
    const call = channels.model.hasSubscribers ? this.#call(request) : null;
    const ask = () => this.#endpoint.stream(request, step);
    try {
      const chunks = await (call ? call.during(ask) : ask());
      for await (const item of reader.read(chunks as AsyncIterable<never>)) {
        call?.delta();
        yield item;
      }
    } catch (error) {
      call?.fail(upstreamFailed(error));
      if (reader.usage) void this.#turn.usage({ model: String(request.model), ...reader.usage });
      throw upstreamFailed(error);
    }
    const calls = reader.calls(taken);
    const { said, stopReason, usage, isPaused } = reader;
    call?.done(reader.told(calls));
    return { said, calls, stopReason, usage, ...(isPaused && { isPaused }) };
  }

  #call(request: RequestFields): ModelCall {
    const { adapter, provider, baseURL } = this.#endpoint;
    return new ModelCall(this.#turn, {
      adapter,
      provider,
      model: String(request.model),
      server: serverOf(baseURL),
      settings: settingsOf(request),
    });
  }
}
