import type { RouteOptions } from '../../transports/http/plugin-route.js';
import { ownNotes } from '../conversation/own-notes.js';
import { CLIENT_HEADERS } from '../openai/client-headers.js';
import { fieldError, sendChatError } from '../openai/errors.js';
import { Models } from '../openai/models.js';
import type { GatewayPlugin } from '../plugin.js';
import { ConversationRoutes } from './conversations.js';
import { Finder } from './finding.js';
import { NewConversations } from './new-conversations.js';
import { ResponseRoutes } from './routes.js';

/** Options of `responsesPlugin`. */
export interface ResponsesOptions {
  /** What the paths begin with, below the gateway's mount; chat completions may be served there too. @default '/v1' */
  readonly path?: string;
  /** Names of models and the apps behind them; the apps' own names are models besides. */
  readonly modelMapping?: Readonly<Record<string, string>>;
  /** What a request does that comes while another is answered in its session. @default 'queue' */
  readonly onBusy?: 'queue' | 'interrupt' | 'reject';
  /**
   * Whether calls of the app's own tools are told as those of an MCP server, and their confirmations as its approvals. Where they are
   * hidden, confirmations wait for who follows the session by another door.
   *
   * @default 'show'
   */
  readonly ownTools?: 'show' | 'hide';
  /** How long a run that is not stored waits for the results of its caller's functions, in milliseconds. @default 10 minutes */
  readonly toolWaitMs?: number;
}

const TOOL_WAIT_MS = 10 * 60_000;

const ROUTE = {
  methods: ['GET', 'POST', 'DELETE'],
  requestHeaders: ['Idempotency-Key', ...CLIENT_HEADERS],
  exposedHeaders: ['x-request-id'],
  fail: sendChatError,
} satisfies RouteOptions;

/**
 * Serves the gateway's apps as models of OpenAI's Responses API, for its clients as they are. Its answers can be resumed for as long as
 * their events are kept.
 *
 * @throws GatewayError `INVALID_REQUEST` for an option that is wrong; from `gateway.use` for a mapping to an app that there is not
 *
 * @example
 * ```ts
 * gateway.use(responsesPlugin({ modelMapping: { 'gpt-5': 'assistant' } }));
 * ```
 */
export function responsesPlugin(options: ResponsesOptions = {}): GatewayPlugin {
  const { path = '/v1', modelMapping, onBusy = 'queue', ownTools = 'show' } = options;
  const { toolWaitMs = TOOL_WAIT_MS } = options;
  if (typeof path !== 'string' || !/^(?:\/[A-Za-z0-9_.-]+)*$/.test(path))
    throw fieldError('path', "must be like '/v1', or empty");
  if (!['queue', 'interrupt', 'reject'].includes(onBusy))
    throw fieldError('onBusy', "must be 'queue', 'interrupt' or 'reject'");
  if (ownTools !== 'show' && ownTools !== 'hide') throw fieldError('ownTools', "must be 'show' or 'hide'");
  if (!(toolWaitMs > 0 && toolWaitMs <= 0x7fffffff))
    throw fieldError('toolWaitMs', 'must be milliseconds, 24 days at most');
  let routes: ResponseRoutes | undefined;
  return {
    name: 'responses',
    setup(context) {
      const models = new Models(context, modelMapping);
      const responses = `${path}/responses`;
      const { report } = context;
      const created = new NewConversations(context.peers?.notes ?? ownNotes());
      const common = { models, ownTools, created };
      routes = new ResponseRoutes(context, { ...common, path: responses, onBusy, toolWaitMs, report });
      const conversations = `${path}/conversations`;
      const finder = new Finder(context);
      const talks = new ConversationRoutes(context, { ...common, path: conversations, finder });
      context.route(responses, (call) => routes!.serve(call), ROUTE);
      context.route(conversations, (call) => talks.serve(call), ROUTE);
    },
    drain: () => routes?.drain(),
    destroy: () => routes?.settled(),
  };
}
