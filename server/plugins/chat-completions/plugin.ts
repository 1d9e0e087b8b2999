import type { PluginRequest, RouteOptions } from '../../transports/http/plugin-route.js';
import { sendJson } from '../conversation/answering.js';
import { inTerms } from '../conversation/errors.js';
import { readPrefix, readToolWait } from '../conversation/options.js';
import { decode } from '../conversation/urls.js';
import { CLIENT_HEADERS } from '../openai/client-headers.js';
import { notServed, sendChatError } from '../openai/errors.js';
import { Models } from '../openai/models.js';
import { SESSION_HEADER } from '../openai/session-name.js';
import type { GatewayPlugin, PluginContext } from '../plugin.js';
import { Completions } from './completions.js';

/** Options of `chatCompletionsPlugin`. */
export interface ChatCompletionsOptions {
  /** The prefix of the paths, below the gateway's mount. @default '/v1' */
  readonly pathPrefix?: string;
  /** Names of models and the apps behind them; the apps' own names are models besides. */
  readonly modelMapping?: Readonly<Record<string, string>>;
  /** Milliseconds for which a run waits for the results of its caller's tools. @default 10 minutes */
  readonly toolWaitMs?: number;
}

/** The caller's names for what a completion passes on. */
const TERMS = {
  message: 'messages',
  messages: 'messages',
  clientTools: 'tools',
  parameters: '',
  sessionId: SESSION_HEADER,
} as const;

const ROUTE = {
  requestHeaders: CLIENT_HEADERS,
  exposedHeaders: [SESSION_HEADER, 'x-request-id'],
  fail: (error, response) => sendChatError(inTerms(TERMS, error), response),
} satisfies RouteOptions;

/**
 * Serves the gateway's apps as models of OpenAI's chat-completions API, for unmodified clients.
 *
 * @throws GatewayError `INVALID_REQUEST` for an invalid option; from `gateway.use` for a mapping to an unknown app
 *
 * @example
 * ```ts
 * gateway.use(chatCompletionsPlugin({ modelMapping: { 'gpt-4o': 'assistant' } }));
 * ```
 */
export function chatCompletionsPlugin(options: ChatCompletionsOptions = {}): GatewayPlugin {
  const pathPrefix = readPrefix('pathPrefix', options.pathPrefix);
  const toolWaitMs = readToolWait(options.toolWaitMs);
  let completions: Completions | undefined;
  return {
    name: 'chat-completions',
    setup(context) {
      const models = new Models(context, options.modelMapping);
      completions = new Completions(context, models, toolWaitMs);
      addRoutes(context, { pathPrefix, models, completions });
    },
    drain: () => completions?.drain(),
    destroy: () => completions?.settled(),
  };
}

function addRoutes(
  context: PluginContext,
  parts: { readonly pathPrefix: string; readonly models: Models; readonly completions: Completions },
): void {
  const { pathPrefix, models, completions } = parts;
  // Other paths of the vendor's API get errors in its shape, since its clients read no other.
  const refuse = (call: PluginRequest): never => {
    throw notServed(call);
  };
  if (pathPrefix !== '') context.route(pathPrefix, refuse, ROUTE);
  const modelsPath = `${pathPrefix}/models`;
  context.route(modelsPath, (call) => sendModels(call, models, modelsPath), {
    ...ROUTE,
    methods: ['GET', 'HEAD'],
  });
  const completionsPath = `${pathPrefix}/chat/completions`;
  context.route(
    completionsPath,
    (call) => (call.path === completionsPath ? completions.serve(call) : refuse(call)),
    { ...ROUTE, methods: ['POST'] },
  );
}

async function sendModels(call: PluginRequest, models: Models, path: string): Promise<void> {
  const person = await call.authenticate();
  const rest = call.path.slice(path.length + 1);
  const body =
    rest === ''
      ? { object: 'list', data: await models.list(person) }
      : await models.get(decode(rest), person);
  sendJson(call.response, body);
}
