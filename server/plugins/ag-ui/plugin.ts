import type { GatewayError } from '../../../shared/errors.js';
import type { RouteOptions } from '../../transports/http/plugin-route.js';
import type { PluginSocket } from '../../transports/websocket/plugin-upgrade.js';
import { ERROR_HEADER, inTerms, sendUiError } from '../conversation/errors.js';
import { type ConversationOptions, readConversationOptions, readPath } from '../conversation/options.js';
import type { GatewayPlugin } from '../plugin.js';
import { AgUiRoutes } from './routes.js';

/** Options of `agUiPlugin`. */
export interface AgUiOptions extends Partial<ConversationOptions> {
  /** The path of agents and of CopilotKit's runtime, below the gateway's mount. @default '/ag-ui' */
  readonly path?: string;
}

/** The client's names for what a request passes on. */
const TERMS = {
  message: 'messages',
  messages: 'messages',
  clientTools: 'tools',
  parameters: '',
  idempotencyKey: 'runId',
  sessionId: 'threadId',
} as const;

const ROUTE = {
  methods: ['GET', 'POST'],
  requestHeaders: ['Idempotency-Key', 'Last-Event-ID', 'User-Agent', 'X-Run-Id'],
  exposedHeaders: [ERROR_HEADER],
  fail: (error, response) => sendUiError(inTerms(TERMS, error), response),
} satisfies RouteOptions;

/** Sends the error before closing, since a page takes an end alone for a cut. */
function failSocket(error: GatewayError, socket: PluginSocket): void {
  const { message, code } = inTerms(TERMS, error);
  socket.send(JSON.stringify({ type: 'RUN_ERROR', message, code }));
}

/**
 * Serves the gateway's sessions to agents of the AG-UI protocol as they are, and to CopilotKit in place of its runtime.
 *
 * @throws GatewayError `INVALID_REQUEST` for an invalid option
 *
 * @example
 * ```ts
 * gateway.use(agUiPlugin({ path: '/ag-ui' }));
 * ```
 */
export function agUiPlugin(options: AgUiOptions = {}): GatewayPlugin {
  const path = readPath(options.path ?? '/ag-ui', '/ag-ui');
  const conversation = readConversationOptions(options);
  return {
    name: 'ag-ui',
    setup(context) {
      const routes = new AgUiRoutes(context, { path, conversation });
      context.route(path, (call) => routes.serve(call), ROUTE);
      context.socket(path, (upgrade) => routes.accept(upgrade), { fail: failSocket });
    },
  };
}
