import type { LanguageModel } from 'ai';
import type { ContentBlock, Usage } from '../../../shared/messages.js';
import type { Turn } from '../../apps/application.js';
import { readArguments } from '../../chat-format/from-chat.js';
import { ModelCall } from '../../diagnostics/model-call.js';
import { providerOf, settingsOf } from '../asked-model.js';
import { upstreamFailed } from '../upstream-failed.js';
import { type Model, type ModelPart, type NamedModels, namedModel, wrapStream } from './wrapped-model.js';

/** Wraps a model so that its calls wait until the run may make them. One that is given by its name waits between its answers alone. */
export const allowedModel = (turn: Turn, given: LanguageModel): LanguageModel =>
  typeof given === 'string'
    ? given
    : wrapStream(given, async (ask) => {
        await turn.allowed();
        return ask();
      });

/** Wraps a model so that its calls are reported. */
export function toldModel(turn: Turn, given: LanguageModel, sdk: NamedModels): LanguageModel {
  const model = typeof given === 'string' ? namedModel(given, sdk) : given;
  return wrapStream(model, async (ask, options) => {
    const call = new ModelCall(turn, {
      adapter: 'ai-sdk',
      provider: providerOf(model.provider),
      model: model.modelId,
      settings: settingsOf(options as Readonly<Record<string, unknown>>),
    });
    const failed = (error: unknown): void => call.fail(upstreamFailed(error));
    let result: Awaited<ReturnType<Model['doStream']>>;
    try {
      result = await call.during(ask);
    } catch (error) {
      failed(error);
      throw error;
    }
    const answer = new CollectedAnswer();
    const watch = new TransformStream<ModelPart, ModelPart>({
      transform: (part, controller) => {
        if (part.type === 'error') failed(part.error);
        if (answer.take(part)) call.delta();
        controller.enqueue(part);
      },
      flush: () => {
        if (answer.isWhole) call.done(answer.told());
        else failed('The stream ended before the answer did');
      },
    });
    return { ...result, stream: result.stream.pipeThrough(watch) };
  });
}

/** A model's answer, collected from the parts of its stream. */
class CollectedAnswer {
  readonly #content: ContentBlock[] = [];
  #last: { readonly type: 'text' | 'reasoning'; text: string } | null = null;
  #lastId: unknown;
  #id: string | undefined;
  #model: string | undefined;
  #finished: string | null = null;
  #usage: Usage | undefined;

  get isWhole(): boolean {
    return this.#finished !== null;
  }

  /** @returns Whether the part has content. */
  take(part: ModelPart): boolean {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta':
        this.#add(part.type === 'text-delta' ? 'text' : 'reasoning', part);
        return true;
      case 'tool-call': {
        const { toolCallId, toolName, input } = part;
        const called = typeof input === 'string' ? readArguments(input) : input;
        this.#last = null;
        this.#content.push({
          ...{ type: 'tool_use', callId: String(toolCallId), name: String(toolName) },
          input: called,
        } as ContentBlock);
        return true;
      }
      case 'response-metadata':
        this.#id = (part.id as string | undefined) ?? this.#id;
        this.#model = (part.modelId as string | undefined) ?? this.#model;
        return false;
      case 'finish':
        this.#finished = finishReason(part.finishReason);
        this.#usage = usageOf(part.usage);
        return false;
      default:
        return false;
    }
  }

  told() {
    return {
      ...{ id: this.#id, model: this.#model, usage: this.#usage, content: this.#content },
      finishReasons: this.#finished === null ? [] : [this.#finished],
    };
  }

  #add(type: 'text' | 'reasoning', { id, delta }: ModelPart): void {
    if (this.#last?.type !== type || this.#lastId !== id) {
      this.#last = { type, text: '' };
      this.#lastId = id;
      this.#content.push(this.#last);
    }
    this.#last.text += String(delta);
  }
}

/** Versions of the SDK have two forms of it. */
function finishReason(told: unknown): string {
  return typeof told === 'object' ? String((told as { unified?: unknown } | null)?.unified) : String(told);
}

/** The token counts that a model tells at the end of its answer. Versions of the SDK have two forms of them. */
export function usageOf(told: unknown): Usage | undefined {
  const { inputTokens, outputTokens } = (told ?? {}) as Readonly<Record<string, unknown>>;
  const total = (count: unknown): number | undefined => {
    const value = typeof count === 'object' ? (count as { total?: unknown } | null)?.total : count;
    return typeof value === 'number' ? value : undefined;
  };
  const [input, output] = [total(inputTokens), total(outputTokens)];
  return {
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
  };
}
