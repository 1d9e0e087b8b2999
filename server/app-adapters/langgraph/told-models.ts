import type { Turn } from '../../apps/application.js';
import type { ModelAnswer } from '../../diagnostics/messages.js';
import { ModelCall } from '../../diagnostics/model-call.js';
import { providerOf, settingsOf } from '../asked-model.js';
import { upstreamFailed } from '../upstream-failed.js';
import { fromGraphContent } from './content.js';
import type { GraphMessage } from './graph.js';

type Facts = Readonly<Record<string, unknown>>;

interface Generation {
  readonly text?: string;
  readonly generationInfo?: Facts;
  readonly message?: GraphMessage;
}

/** A callback handler that reports the calls of models in a graph's nodes. */
export function modelListener(turn: Turn) {
  const calls = new Map<string, ModelCall>();
  const begin = (runId: string, extra: Facts | undefined, metadata: Facts = {}): void => {
    const asked = (extra?.invocation_params ?? {}) as Facts;
    const model = metadata.ls_model_name ?? asked.model;
    const call = new ModelCall(turn, {
      adapter: 'langgraph',
      provider: providerOf(metadata.ls_provider),
      model: typeof model === 'string' ? model : undefined,
      settings: settingsOf({ ...metadata, ...asked }),
    });
    calls.set(runId, call);
    call.during(() => {});
  };
  const over = (runId: string): ModelCall | undefined => {
    const call = calls.get(runId);
    calls.delete(runId);
    return call;
  };
  return {
    name: 'agent-session-gateway-models',
    // Wait for the handler, so that a call is reported before it is made and in its caller's async context.
    awaitHandlers: true,
    handleChatModelStart: (
      _model: unknown,
      _messages: unknown,
      ...[runId, , extra, , metadata]: [string, unknown, Facts?, unknown?, Facts?]
    ) => begin(runId, extra, metadata),
    handleLLMStart: (
      _model: unknown,
      _prompts: unknown,
      ...[runId, , extra, , metadata]: [string, unknown, Facts?, unknown?, Facts?]
    ) => begin(runId, extra, metadata),
    handleLLMNewToken: (_token: string, _at: unknown, runId: string) => calls.get(runId)?.delta(),
    handleLLMEnd: (output: { readonly generations?: readonly (readonly Generation[])[] }, runId: string) =>
      over(runId)?.done(answerOf(output.generations?.[0]?.[0])),
    handleLLMError: (error: unknown, runId: string) => over(runId)?.fail(upstreamFailed(error)),
  };
}

function answerOf({ text = '', generationInfo, message }: Generation = {}): ModelAnswer {
  const about = { ...generationInfo, ...message?.response_metadata } as Facts;
  const reason = about.finish_reason ?? about.stop_reason ?? about.finishReason;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = message?.usage_metadata ?? {};
  const model = about.model_name ?? about.model;
  return {
    id: message?.id,
    model: typeof model === 'string' ? model : undefined,
    finishReasons: typeof reason === 'string' ? [reason] : [],
    usage: {
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    },
    content: message
      ? [
          ...fromGraphContent(message),
          ...(message.tool_calls ?? []).map(({ id = '', name, args }) => ({
            ...{ type: 'tool_use' as const, callId: id, name },
            input: args as unknown,
          })),
        ]
      : [{ type: 'text', text }],
  };
}
