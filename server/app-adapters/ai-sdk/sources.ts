import type { ToolSet as AiToolSet, LanguageModel, ModelMessage, StreamTextResult, streamText } from 'ai';
import type { Turn } from '../../apps/application.js';
import { channels } from '../../diagnostics/channels.js';
import { loadPeer } from '../../runtime/optional-peer.js';
import { traceHeaders } from '../trace-headers.js';
import { firstStepOnly, isForced, toCallSettings } from './call-settings.js';
import type { NextModel } from './next-model.js';

/** A stream of the AI SDK, as `streamText` and `agent.stream` return. */
export type AiSdkStream = Pick<StreamTextResult<any, any>, 'fullStream' | 'response'>;

/** `streamText` options, except those that the turn sets: messages and abort signal. */
export type StreamTextSettings = Omit<
  Parameters<typeof streamText<any, any>>[0],
  'messages' | 'prompt' | 'abortSignal'
>;

/** An agent of the AI SDK, such as `ToolLoopAgent`. */
export interface AiSdkAgent {
  readonly tools?: AiToolSet;
  stream(options: any): PromiseLike<AiSdkStream>;
}

/** Makes the models and tools of a function durable, and reports calls of its models to observers. */
export interface Durable {
  model(model: LanguageModel): LanguageModel;
  tools<Tools extends AiToolSet>(tools: Tools): Tools;
}

/**
 * Answers a turn with a stream. Pass it `turn.signal`, or an abort does not reach the model.
 *
 * @param tools Tools of the app and of the turn's caller, for the `tools` of the call.
 * @param durable In a `resumable` app, makes a model's answers and the calls of tools with `execute` steps. Otherwise leaves both
 *   unchanged.
 */
export type AiSdkRun = (
  turn: Turn,
  messages: ModelMessage[],
  tools: AiToolSet,
  durable: Durable,
) => AiSdkStream | PromiseLike<AiSdkStream>;

/** The form of all sources. */
export type StartedRun = (...given: [...Parameters<AiSdkRun>, NextModel | null]) => ReturnType<AiSdkRun>;

const MAX_STEPS = 20;

/** The model of a source that shows it. */
export function modelOf(source: StreamTextSettings | AiSdkAgent | AiSdkRun): LanguageModel | undefined {
  if (typeof source === 'function') return undefined;
  if (!('stream' in source)) return source.model;
  // Only a `ToolLoopAgent` shows which model it calls.
  return (source as { readonly settings?: { readonly model?: LanguageModel } }).settings?.model;
}

export function toRun(source: StreamTextSettings | AiSdkAgent | AiSdkRun): StartedRun {
  if (typeof source === 'function') return source;
  return 'stream' in source ? fromAgent(source) : fromSettings(source);
}

function fromSettings(settings: StreamTextSettings): StartedRun {
  return async (turn, messages, tools, durable, next) => {
    const sdk = await loadSdk();
    const { toolChoice, ...changes } = toCallSettings(turn.parameters, sdk);
    const forced = isForced(toolChoice);
    const prepared = forced ? firstStepOnly(settings.prepareStep) : settings.prepareStep;
    return sdk.streamText({
      allowSystemInMessages: true,
      stopWhen: sdk.stepCountIs(MAX_STEPS),
      // The gateway logs errors, so the SDK need not print them.
      onError: () => {},
      ...settings,
      ...changes,
      // A forced call would be repeated after its result until the steps run out.
      ...(toolChoice && !(forced && goesOn(messages)) && { toolChoice }),
      ...((forced || next) && { prepareStep: next?.prepare(prepared) ?? prepared }),
      model: durable.model(settings.model),
      tools: { ...durable.tools(settings.tools ?? {}), ...tools },
      messages,
      headers: { ...traceHeaders(turn), ...settings.headers },
      abortSignal: turn.signal,
    } as Parameters<typeof streamText>[0]);
  };
}

/** Whether a stream continues an answer after approvals. */
const goesOn = (messages: readonly ModelMessage[]): boolean => messages.at(-1)?.role === 'tool';

/** A `ToolLoopAgent` accepts settings with each call. Other agents ignore them. */
function fromAgent(agent: AiSdkAgent): StartedRun {
  const model = modelOf(agent);
  const { prepareStep } =
    (agent as { readonly settings?: Pick<StreamTextSettings, 'prepareStep'> }).settings ?? {};
  return async (turn, messages, tools, durable, next) => {
    const given = Object.keys(turn.parameters).length > 0;
    const { toolChoice, ...changes } = given ? toCallSettings(turn.parameters, await loadSdk()) : {};
    return agent.stream({
      onError: () => {},
      ...changes,
      ...(toolChoice && !isForced(toolChoice) && { toolChoice }),
      ...(Object.keys(tools).length > 0 && { tools: { ...agent.tools, ...tools } }),
      ...((channels.model.hasSubscribers || next) && model && { model: durable.model(model) }),
      ...(next && { prepareStep: next.prepare(prepareStep) }),
      messages,
      ...(turn.traceparent !== undefined && { headers: traceHeaders(turn) }),
      abortSignal: turn.signal,
    });
  };
}

export const loadSdk = (): Promise<typeof import('ai')> => loadPeer('ai', 'aiSdkApp', () => import('ai'));
