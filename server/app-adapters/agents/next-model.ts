import type { Agent, Model, ModelProvider, ModelRequest, ModelResponse, StreamEvent } from '@openai/agents';
import type { Turn } from '../../apps/application.js';
import { NextModels } from '../next-models.js';
import { upstreamFailed } from '../upstream-failed.js';

/** A model, or its name with the provider of the runner. */
export type NamedModel = Model | string;

/** An event of a model's stream that has something done when the run is read up to it. The SDK reads models ahead. */
export class ModelPlace {
  readonly reached: () => void;
  /** The failure of the model that was asked so far, and the one that is asked now. */
  readonly failed: { readonly error: unknown; readonly next: NamedModel } | undefined;

  constructor(reached: ModelPlace['reached'], failed?: ModelPlace['failed']) {
    this.reached = reached;
    this.failed = failed;
  }
}

const placeEvent = (place: ModelPlace): StreamEvent => ({ type: 'model', event: place });

/** Asks the next model where one fails or breaks off. The SDK keeps the whole answer alone. */
class FallingModel implements Model {
  /** The name of the model, where the SDK's models have theirs. */
  readonly _model: unknown;
  readonly #turn: Turn;
  readonly #first: NamedModel;
  readonly #others: readonly NamedModel[];
  readonly #provider: ModelProvider;

  constructor(turn: Turn, first: NamedModel, others: readonly NamedModel[], provider: ModelProvider) {
    this.#turn = turn;
    this.#first = first;
    this.#others = others;
    this.#provider = provider;
    this._model = nameOf(first);
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    return (await this.#find(this.#first)).getResponse(request);
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const models = new NextModels(this.#turn, this.#others);
    yield placeEvent(new ModelPlace(() => models.begin()));
    for (let model = this.#first; ; ) {
      try {
        yield* (await this.#find(model)).getStreamedResponse(request);
        return;
      } catch (error) {
        const next = models.after(upstreamFailed(error));
        yield placeEvent(new ModelPlace(() => models.takeBack(), { error, next }));
        model = next;
      }
    }
  }

  #find(model: NamedModel): Model | Promise<Model> {
    return typeof model === 'string' ? this.#provider.getModel(model || undefined) : model;
  }
}

/** The name of a model, if it tells one. */
export function nameOf(model: NamedModel | undefined): string | undefined {
  const name =
    typeof model === 'string' ? model : (model as { readonly _model?: unknown } | undefined)?._model;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** The agent with further models behind its own. @param runner The configuration of its runner */
export function fallingAgent<A extends Agent<any, any>>(
  agent: A,
  turn: Turn,
  others: readonly NamedModel[],
  runner: { readonly model?: NamedModel; readonly modelProvider: ModelProvider },
): A {
  const first = agent.model || runner.model || '';
  return agent.clone({ model: new FallingModel(turn, first, others, runner.modelProvider) } as never) as A;
}
