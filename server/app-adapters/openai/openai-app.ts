import type { ContentBlock } from '../../../shared/messages.js';
import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import type { App } from '../../apps/define-app.js';
import type { ToolSet } from '../../apps/tool.js';
import { toChatMessages, toChatTools } from '../../chat-format/to-chat.js';
import { conversationOf } from '../conversation.js';
import { withFiles } from '../inline-files.js';
import { instructionsOf, type ModelAppOptions, modelApp } from '../model-app.js';
import { ModelCaller } from '../model-caller.js';
import { offeredTools } from '../offered-tools.js';
import { callIdsOf, toolLoop } from '../tool-loop.js';
import { endpointOf } from './endpoint.js';
import { mergeParameters, withoutForcedCall } from './parameters.js';
import { loadOpenAI, type OpenAIClient } from './sdk.js';

/** The endpoint of an app's model. */
export type OpenAIEndpoint =
  | {
      /** A client of the package `openai`, with your own time-outs, retries and headers. */
      readonly client: OpenAIClient;
    }
  | {
      /** Address of the endpoint, such as `http://127.0.0.1:11434/v1`. @default OpenAI's own */
      readonly baseURL?: string;
      /** Key of the endpoint. Local servers often need none. @default the environment's `OPENAI_API_KEY`, if there is no `baseURL` */
      readonly apiKey?: string;
    };

/** Options of an app that uses a chat-completions endpoint. */
export type OpenAIAppOptions<Tools extends ToolSet = ToolSet> = OpenAIEndpoint &
  ModelAppOptions<Tools> & {
    /**
     * Whether the model is asked by the Responses API, in the background. Its provider goes on without this process: a resumable run reads the same answer on, and
     * the model is not asked again.
     *
     * @default false
     */
    readonly background?: boolean;
  };

/**
 * An app that answers with any endpoint that speaks OpenAI's chat completions. Needs the package `openai`.
 *
 * @example
 * ```ts
 * const app = openaiApp({ baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3', tools: { lookup } });
 * const gateway = createGateway({ app });
 * ```
 */
export function openaiApp<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  options: OpenAIAppOptions<Tools>,
): App<Tools> {
  return modelApp(
    options,
    () => connect(options),
    (turn, client) => converse(turn, client, options as OpenAIAppOptions),
  );
}

async function connect(endpoint: OpenAIEndpoint): Promise<OpenAIClient> {
  if ('client' in endpoint) return endpoint.client;
  const { baseURL, apiKey } = endpoint;
  const { OpenAI } = await loadOpenAI();
  if (baseURL === undefined) return new OpenAI(apiKey === undefined ? {} : { apiKey });
  // The environment's key and names are for OpenAI, and must not reach another server.
  return new OpenAI({ baseURL, apiKey: apiKey || 'none', organization: null, project: null });
}

async function* converse(
  turn: Turn,
  client: OpenAIClient,
  options: OpenAIAppOptions,
): AsyncGenerator<string | AppEvent, AppResult> {
  const { model, tools = {}, parameters = {}, maxSteps = 20, resumable = false } = options;
  const system = await instructionsOf(options, turn);
  const opening = system
    ? [{ role: 'system' as const, content: [{ type: 'text' as const, text: system }] }]
    : [];
  const conversation: Parameters<typeof toChatMessages>[0][number][] = [
    ...opening,
    ...(await withFiles(turn, conversationOf(turn))),
  ];
  const offered = toChatTools(offeredTools(turn, tools));
  const taken = callIdsOf(conversation);
  const asking = new ModelCaller(turn, endpointOf(turn, client, options));
  let settings: Readonly<Record<string, unknown>> = mergeParameters(parameters, turn.parameters);
  return yield* toolLoop<readonly ContentBlock[]>(turn, {
    ...{ maxSteps, durable: resumable, taken },
    names: new Set(offered.map((tool) => tool.function.name)),
    ask() {
      const request = {
        model,
        stream_options: { include_usage: true },
        ...settings,
        messages: toChatMessages(conversation),
        ...(offered.length > 0 && { tools: offered }),
      };
      settings = withoutForcedCall(settings);
      return asking.ask(request, taken);
    },
    add({ said, calls }, results, steered) {
      conversation.push({ role: 'assistant', content: [...said, ...calls, ...results] }, ...steered);
    },
  });
}
