import type { ContentBlock, ToolResultBlock, ToolUseBlock } from '../../../shared/messages.js';
import type { AppEvent, AppResult, OnDisconnect, Turn } from '../../apps/application.js';
import { type CompactionOption, compactOf } from '../../apps/compaction.js';
import { type App, defineApp } from '../../apps/define-app.js';
import type { ToolSet } from '../../apps/tool.js';
import { type Versioned, versionsOf } from '../../apps/versions.js';
import { toChatMessages, toChatTools } from '../../chat-format/to-chat.js';
import { ToolCallError } from '../../runs/tool-error.js';
import { conversationOf } from '../conversation.js';
import { withFiles } from '../inline-files.js';
import { offeredTools } from '../offered-tools.js';
import { once } from '../once.js';
import { ModelCaller } from './model-caller.js';
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
  Versioned &
  CompactionOption & {
    readonly model: string;
    /** Further models of the endpoint. Each is asked anew if the one before fails or breaks off; what that one has said is taken back on every page. */
    readonly models?: readonly string[];
    readonly description?: string;
    /** The system message, before all others. */
    readonly instructions?: string | ((turn: Turn<Tools>) => string | Promise<string>);
    /** Tools offered to the model, along with those of the turn's caller. */
    readonly tools?: Tools;
    /** Further fields of each request, such as `temperature`. Callers may override the sampling ones. */
    readonly parameters?: Readonly<Record<string, unknown>>;
    /** Most requests to the model in one run. Each round of tool calls takes one. @default 20 */
    readonly maxSteps?: number;
    /** @default 'continue' */
    readonly onDisconnect?: OnDisconnect;
    /**
     * Whether a run resumes after a restart, with its open confirmations. Answers of the model and calls of tools that ended are not
     * repeated; those under way are.
     *
     * @default false
     */
    readonly resumable?: boolean;
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
  const { description = `Answers with ${options.model}`, tools, onDisconnect, resumable } = options;
  let client: Promise<OpenAIClient> | undefined;
  return defineApp<Tools>({
    description,
    ...(tools && { tools }),
    ...(onDisconnect && { onDisconnect }),
    ...(resumable && { resumable }),
    ...versionsOf(options),
    ...compactOf(options),
    async *run(turn) {
      client ??= connect(options);
      return yield* converse(turn as Turn, await client, options as OpenAIAppOptions);
    },
  });
}

async function connect(endpoint: OpenAIEndpoint): Promise<OpenAIClient> {
  if ('client' in endpoint) return endpoint.client;
  const { baseURL, apiKey } = endpoint;
  const { OpenAI } = await loadOpenAI();
  if (baseURL === undefined) return new OpenAI(apiKey === undefined ? {} : { apiKey });
  // The environment's key and names are for OpenAI, and must not reach another server.
  return new OpenAI({ baseURL, apiKey: apiKey || 'none', organization: null, project: null });
}

/** The tool loop: asks the model, makes its calls, and asks again with their results. */
async function* converse(
  turn: Turn,
  client: OpenAIClient,
  options: OpenAIAppOptions,
): AsyncGenerator<string | AppEvent, AppResult> {
  const { model, instructions, tools = {}, parameters = {} } = options;
  const { maxSteps = 20, resumable = false, background = false } = options;
  const system = typeof instructions === 'function' ? await instructions(turn) : instructions;
  const opening = system
    ? [{ role: 'system' as const, content: [{ type: 'text' as const, text: system }] }]
    : [];
  const conversation: Parameters<typeof toChatMessages>[0][number][] = [
    ...opening,
    ...(await withFiles(turn, conversationOf(turn))),
  ];
  const offered = toChatTools(offeredTools(turn, tools));
  const taken = new Set(conversation.flatMap(({ content }) => content.flatMap(callIdOf)));
  const asking = new ModelCaller(turn, client, {
    durable: resumable,
    background,
    others: options.models ?? [],
  });
  // A resumed run takes the same path again, and gets the outcome of everything that ended.
  const perform = <T>(name: string, work: () => T | Promise<T>): T | Promise<T> =>
    resumable ? once(turn, name, work) : work();
  // A tool that another version of the app had fails here, and its question would wait for nothing.
  const names = new Set(offered.map((tool) => tool.function.name));
  const nameOf = ({ name }: ToolUseBlock): string =>
    turn.rehearsing && !names.has(name) ? `no tool ${name}` : `tool ${name}`;
  let settings: Readonly<Record<string, unknown>> = mergeParameters(parameters, turn.parameters);
  for (let step = 1; step <= maxSteps; step += 1) {
    const request = {
      model,
      stream_options: { include_usage: true },
      ...settings,
      messages: toChatMessages(conversation),
      ...(offered.length > 0 && { tools: offered }),
    };
    const { said, calls, stopReason } = yield* asking.ask(request, taken);
    if (calls.length === 0) return { stopReason };
    const results = await Promise.all(calls.map((call) => perform(nameOf(call), () => makeCall(turn, call))));
    // The step keeps the messages, but not the bytes of their files.
    const steered = await withFiles(turn, await perform('steered', () => turn.steered()));
    conversation.push({ role: 'assistant', content: [...said, ...calls, ...results] }, ...steered);
    for (const { callId } of calls) taken.add(callId);
    settings = withoutForcedCall(settings);
  }
  return { stopReason: 'tool_use' };
}

const callIdOf = (block: ContentBlock): string[] => (block.type === 'tool_use' ? [block.callId] : []);

/** Makes a call through the gateway, which asks and logs. The model gets a failure as the result. */
async function makeCall(turn: Turn, { callId, name, input }: ToolUseBlock): Promise<ContentBlock> {
  const result = (output: unknown, isError: boolean): ToolResultBlock => ({
    type: 'tool_result',
    callId,
    name,
    output,
    isError,
  });
  try {
    return result((await turn.callTool(name, input as never)) ?? null, false);
  } catch (error) {
    if (error instanceof ToolCallError) return result(error.message, true);
    throw error;
  }
}
