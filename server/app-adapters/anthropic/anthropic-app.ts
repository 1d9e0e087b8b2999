import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import type { App } from '../../apps/define-app.js';
import type { ToolSet } from '../../apps/tool.js';
import { shownOf } from '../anthropic-blocks.js';
import { conversationOf } from '../conversation.js';
import { withFiles } from '../inline-files.js';
import { instructionsOf, type ModelAppOptions, modelApp } from '../model-app.js';
import { ModelCaller } from '../model-caller.js';
import { offeredTools } from '../offered-tools.js';
import { callIdsOf, toolLoop } from '../tool-loop.js';
import { traceHeaders } from '../trace-headers.js';
import { AnthropicAnswer, saidAgain } from './answer.js';
import { mergeParameters, withoutForcedCall } from './parameters.js';
import { type AnthropicBlock, type AnthropicClient, loadAnthropic } from './sdk.js';
import { toAnthropicMessages, toAnthropicTool, toResult } from './to-messages.js';

/** The variable with headers that the package adds to each request. */
const OWN_HEADERS = 'ANTHROPIC_CUSTOM_HEADERS';

/** The endpoint of an app's model. */
export type AnthropicEndpoint =
  | {
      /** A client of the package `@anthropic-ai/sdk`, with your own time-outs, retries and headers, or one for another cloud. */
      readonly client: AnthropicClient;
    }
  | {
      /** Address of a server that speaks Anthropic's Messages, without `/v1`. @default Anthropic's own */
      readonly baseURL?: string;
      /** Key of the endpoint. @default what the package finds in the environment, if there is no `baseURL` */
      readonly apiKey?: string;
    };

/** Options of an app that asks Claude. Its `parameters` have `max_tokens`: 8,192 unless you give another number. */
export type AnthropicAppOptions<Tools extends ToolSet = ToolSet> = AnthropicEndpoint & ModelAppOptions<Tools>;

/**
 * An app that answers with Claude, by any server that speaks Anthropic's Messages. Needs the package `@anthropic-ai/sdk`.
 *
 * @example
 * ```ts
 * const app = anthropicApp({ model: 'claude-sonnet-5-5', tools: { lookup } });
 * const gateway = createGateway({ app });
 * ```
 */
export function anthropicApp<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  options: AnthropicAppOptions<Tools>,
): App<Tools> {
  return modelApp(
    options,
    () => connect(options),
    (turn, client) => converse(turn, client, options as AnthropicAppOptions),
  );
}

async function connect(endpoint: AnthropicEndpoint): Promise<AnthropicClient> {
  if ('client' in endpoint) return endpoint.client;
  const { baseURL, apiKey } = endpoint;
  const { Anthropic } = await loadAnthropic();
  if (baseURL === undefined) return new Anthropic(apiKey === undefined ? {} : { apiKey });
  // The environment's key, token and headers are for Anthropic, and must not reach another server.
  const [, own = ''] = Object.entries(process.env).find(([name]) => name === OWN_HEADERS) ?? [];
  const headers = own.split('\n').map((line) => line.split(':')[0]!.trim());
  return new Anthropic({
    ...{ baseURL, apiKey: apiKey || 'none', authToken: null },
    defaultHeaders: Object.fromEntries(headers.filter(Boolean).map((name) => [name, null])),
  });
}

async function* converse(
  turn: Turn,
  client: AnthropicClient,
  options: AnthropicAppOptions,
): AsyncGenerator<string | AppEvent, AppResult> {
  const {
    model,
    models: others = [],
    tools = {},
    parameters = {},
    maxSteps = 20,
    resumable = false,
  } = options;
  const instructions = await instructionsOf(options, turn);
  const conversation = await withFiles(turn, conversationOf(turn));
  const { system: asked, messages } = toAnthropicMessages(conversation);
  const system = [instructions, asked].filter(Boolean).join('\n\n');
  const { tools: served, ...own } = parameters;
  const offered = offeredTools(turn, tools);
  const known = [...(Array.isArray(served) ? served : []), ...offered.map(toAnthropicTool)];
  const taken = callIdsOf(conversation);
  const asking = new ModelCaller<readonly AnthropicBlock[]>(turn, {
    ...{ adapter: 'anthropic', provider: 'anthropic', others, durable: resumable },
    baseURL: (client as { readonly baseURL?: string }).baseURL,
    reader: () => new AnthropicAnswer(),
    again: saidAgain,
    stream: async (request) => {
      const { signal } = turn;
      return client.messages.create({ ...request, stream: true } as never, {
        signal,
        headers: traceHeaders(turn),
      }) as never;
    },
  });
  let settings: Readonly<Record<string, unknown>> = mergeParameters(own, turn.parameters);
  return yield* toolLoop(turn, {
    ...{ maxSteps, durable: resumable, taken },
    names: new Set(offered.map(({ name }) => name)),
    ask() {
      const { tool_choice: choice, ...others } = settings;
      const request = {
        ...{ model, ...others, messages: [...messages] },
        ...(system !== '' && { system }),
        // The API refuses a choice among no tools.
        ...(known.length > 0 && { tools: known, ...(choice !== undefined && { tool_choice: choice }) }),
      };
      settings = withoutForcedCall(settings);
      return asking.ask(request, taken);
    },
    add({ said }, results, steered) {
      messages.push({ role: 'assistant', content: [...said] });
      const told = [
        ...results.map((result) => toResult(result.callId, result)),
        ...steered.flatMap(({ content }) => shownOf(content)),
      ];
      if (told.length > 0) messages.push({ role: 'user', content: told });
    },
  });
}
