import { GatewayError } from '../../../shared/errors.js';
import type { RouteOptions } from '../../transports/http/plugin-route.js';
import { fieldError, inTerms } from '../conversation/errors.js';
import { readOnBusy, readOnLeave, readPrefix, readToolWait } from '../conversation/options.js';
import { UserNotes } from '../conversation/user-notes.js';
import { CLIENT_HEADERS } from '../openai/client-headers.js';
import { sendChatError } from '../openai/errors.js';
import { Models } from '../openai/models.js';
import type { GatewayPlugin } from '../plugin.js';
import { ConversationRoutes, type NewConversation } from './conversations.js';
import { Finder } from './finding.js';
import { isGenerated } from './places.js';
import { ResponseRoutes } from './routes.js';
import { ResponseSocket } from './socket.js';

/** Options of `responsesPlugin`. */
export interface ResponsesOptions {
  /** Prefix of the paths, below the gateway's mount. Chat completions may share it. @default '/v1' */
  readonly path?: string;
  /** Names of models and the apps behind them. The apps' own names are models too. */
  readonly modelMapping?: Readonly<Record<string, string>>;
  /** How to treat a request while another one is answered in the same session. @default 'queue' */
  readonly onBusy?: 'queue' | 'interrupt' | 'reject';
  /**
   * Whether an answer ends if its client leaves while it comes, unless it was asked for in the `background`.
   *
   * @default 'continue'
   */
  readonly onLeave?: 'continue' | 'abort';
  /**
   * Whether calls of the app's own tools are shown as calls of an MCP server, and their confirmations as its approvals. Hidden
   * confirmations wait for a client that follows the session by another door.
   *
   * @default 'show'
   */
  readonly ownTools?: 'show' | 'hide';
  /** Time that a run with `store: false` waits for the outputs of its caller's functions, in milliseconds. @default 10 minutes */
  readonly toolWaitMs?: number;
}

/** The caller's names for what a response passes on. */
const TERMS = {
  message: 'input',
  messages: 'input',
  clientTools: 'tools',
  parameters: '',
  metadata: 'metadata',
  idempotencyKey: 'Idempotency-Key',
  sessionId: 'conversation',
} as const;

const ROUTE = {
  methods: ['GET', 'POST', 'DELETE'],
  requestHeaders: ['Idempotency-Key', ...CLIENT_HEADERS],
  exposedHeaders: ['x-request-id'],
  fail: (error, response) => sendChatError(inTerms(TERMS, error), response),
} satisfies RouteOptions;

/**
 * Serves the gateway's apps as models of OpenAI's Responses API, for unmodified clients. Responses can be resumed for as long as their
 * events are kept.
 *
 * @throws GatewayError `INVALID_REQUEST` for a wrong option; from `gateway.use` for a mapping to an app that does not exist
 *
 * @example
 * ```ts
 * gateway.use(responsesPlugin({ modelMapping: { 'gpt-5': 'assistant' } }));
 * ```
 */
export function responsesPlugin(options: ResponsesOptions = {}): GatewayPlugin {
  const { modelMapping, ownTools = 'show' } = options;
  const path = readPrefix('path', options.path);
  const [onBusy, toolWaitMs] = [readOnBusy(options.onBusy), readToolWait(options.toolWaitMs)];
  const onLeave = readOnLeave(options.onLeave);
  if (ownTools !== 'show' && ownTools !== 'hide') throw fieldError('ownTools', "must be 'show' or 'hide'");
  let routes: ResponseRoutes | undefined;
  return {
    name: 'responses',
    setup(context) {
      const models = new Models(context, modelMapping);
      const responses = `${path}/responses`;
      const { report } = context;
      context.spares(isGenerated);
      const created = new UserNotes<NewConversation>(context, 'conversation');
      const common = { models, ownTools, created };
      routes = new ResponseRoutes(context, {
        ...common,
        path: responses,
        onBusy,
        onLeave,
        toolWaitMs,
        report,
      });
      const conversations = `${path}/conversations`;
      const finder = new Finder(context);
      const talks = new ConversationRoutes(context, { ...common, path: conversations, finder });
      context.route(responses, (call) => routes!.serve(call), ROUTE);
      context.socket(responses, (upgrade) => {
        if (upgrade.path !== responses) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
        return new ResponseSocket(routes!, upgrade, (error) => inTerms(TERMS, error));
      });
      context.route(conversations, (call) => talks.serve(call), ROUTE);
    },
    drain: () => routes?.drain(),
    destroy: () => routes?.settled(),
  };
}
