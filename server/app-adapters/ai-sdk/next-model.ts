import type { LanguageModel, ModelMessage, PrepareStepFunction, TextStreamPart } from 'ai';
import type { Turn } from '../../apps/application.js';
import { NextModels } from '../next-models.js';
import { upstreamFailed } from '../upstream-failed.js';
import { usageOf } from './told-model.js';
import {
  type GivenModel,
  type ModelPart,
  type NamedModels,
  namedModel,
  wrapStream,
} from './wrapped-model.js';

/** Has the next model take up the stream of a run at the step in which one has failed. */
export class NextModel {
  readonly #turn: Turn;
  readonly #sdk: NamedModels;
  readonly #next: NextModels<LanguageModel>;
  #instead: LanguageModel | undefined;
  #input: readonly ModelMessage[] = [];

  constructor(turn: Turn, others: readonly LanguageModel[], sdk: NamedModels) {
    this.#turn = turn;
    this.#sdk = sdk;
    this.#next = new NextModels(turn, others);
  }

  /** The model that is to be asked. @param given That of the app */
  model(given: LanguageModel): LanguageModel {
    const asked = this.#instead ?? given;
    return heldCalls(this.#turn, typeof asked === 'string' ? namedModel(asked, this.#sdk) : asked);
  }

  /** A hook that notes the messages of each step. @param own The host's own hook */
  prepare(own: PrepareStepFunction<any> | undefined): PrepareStepFunction<any> {
    return async (options) => {
      this.#input = options.messages;
      const { model, ...prepared } = (await own?.(options)) ?? {};
      return { ...prepared, ...(model && { model: this.model(model) }) };
    };
  }

  /** Notes that a stream begins. @param input Its messages */
  begin(input: readonly ModelMessage[]): void {
    this.#input = input;
    this.#next.begin();
  }

  /** Notes where steps begin. A model that could not even begin has no part that says so. */
  read(part: TextStreamPart<any>): void {
    const ended = part.type === 'finish-step' && part.finishReason !== 'error';
    if (ended || part.type === 'start-step') this.#next.begin();
  }

  /**
   * Takes back what the failed step has said.
   *
   * @param before Whether it failed, and that was done, in a former process.
   * @returns the messages of the next model
   * @throws GatewayError the error, if there is none
   */
  after(error: unknown, before = false): ModelMessage[] {
    this.#instead = this.#next.after(upstreamFailed(error));
    if (!before) this.#next.takeBack();
    return [...this.#input];
  }
}

/** Longest time that a model has to end its answer behind a failure. */
const LATE_MS = 5_000;

const isClientCall = ({ type, providerExecuted }: ModelPart): boolean =>
  type === 'tool-call' && !providerExecuted;

/** Wraps a model so that its calls pass at the end of its answer: no tool works for an answer that breaks off. A failure is a part of the stream. */
function heldCalls(turn: Turn, model: GivenModel): GivenModel {
  return wrapStream(model, async (ask) => {
    const result = await ask();
    const source = result.stream.getReader();
    const held: ModelPart[] = [];
    const stream = new ReadableStream<ModelPart>({
      async pull(controller) {
        for (;;) {
          const { done, value } = await source.read().catch((error: unknown) => {
            if (turn.signal.aborted) throw error;
            return { done: false as const, value: { type: 'error', error } };
          });
          if (done) return controller.close();
          // Earlier versions of the SDK have a tool work as soon as its call passes.
          if (isClientCall(value)) {
            held.push(value);
            continue;
          }
          if (value.type === 'finish') for (const call of held.splice(0)) controller.enqueue(call);
          controller.enqueue(value);
          if (value.type !== 'error') return;
          controller.close();
          return void lateUsage(turn, model, source);
        }
      },
      cancel: (reason) => source.cancel(reason),
    });
    return { ...result, stream };
  });
}

/** Tells the usage of an answer that has failed, which some models say behind the failure. */
async function lateUsage(
  turn: Turn,
  { modelId: model }: GivenModel,
  source: ReadableStreamDefaultReader<ModelPart>,
): Promise<void> {
  const cut = (): void => void source.cancel().catch(() => {});
  AbortSignal.timeout(LATE_MS).addEventListener('abort', cut);
  try {
    for (let read = await source.read(); !read.done; read = await source.read()) {
      if (read.value.type === 'finish') await turn.usage({ model, ...usageOf(read.value.usage) });
    }
  } catch {
    // The stream has failed already.
  }
}
