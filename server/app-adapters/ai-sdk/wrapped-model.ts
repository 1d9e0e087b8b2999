import type { LanguageModel } from 'ai';

/** A part of a model's stream. */
export type ModelPart = { readonly type: string } & Record<string, unknown>;

export interface StreamResult {
  readonly stream: ReadableStream<ModelPart>;
}

/** The part of a model that the SDK calls. */
export interface Model {
  doStream(options: unknown): PromiseLike<StreamResult>;
}

/** The source of models that are given by name, unless the host has set another one. */
export type NamedModels = Pick<typeof import('ai'), 'gateway'>;

/** A model that is given itself, and not by its name. */
export type GivenModel = Exclude<LanguageModel, string>;

/** The model of a name, as the SDK would find it. */
export function namedModel(id: string, { gateway }: NamedModels): GivenModel {
  const { AI_SDK_DEFAULT_PROVIDER: provider } = globalThis as {
    AI_SDK_DEFAULT_PROVIDER?: { languageModel(id: string): GivenModel };
  };
  return (provider ?? gateway).languageModel(id);
}

/** Wraps a model so that its stream is requested in another way. */
export function wrapStream(
  model: GivenModel,
  stream: (ask: () => PromiseLike<StreamResult>, options: unknown) => Promise<StreamResult>,
): GivenModel {
  return new Proxy(model, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (name === 'doStream')
        return (options: unknown) => stream(() => (target as unknown as Model).doStream(options), options);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
