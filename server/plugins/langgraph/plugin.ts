import type { RouteOptions } from '../../transports/http/plugin-route.js';
import { type ConversationOptions, readConversationOptions, readPath } from '../conversation/options.js';
import type { GatewayPlugin } from '../plugin.js';
import { sendLangGraphError } from './errors.js';
import { LangGraphRoutes } from './routes.js';

/** Options of `langGraphPlugin`. */
export interface LangGraphOptions extends Partial<ConversationOptions> {
  /** The path below the gateway's mount. The `apiUrl` of clients ends with it. @default '/langgraph' */
  readonly path?: string;
}

const ROUTE = {
  methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  requestHeaders: ['Last-Event-ID', 'X-Api-Key', 'X-Auth-Scheme', 'Prefer'],
  exposedHeaders: ['Content-Location', 'Location'],
  fail: sendLangGraphError,
} satisfies RouteOptions;

/**
 * Serves the gateway's sessions as threads to clients of LangGraph's API: `useStream` of React, Vue, Svelte and Angular, the SDK's
 * `Client`, and Agent Chat UI.
 *
 * @throws GatewayError `INVALID_REQUEST` for an invalid option
 *
 * @example
 * ```ts
 * gateway.use(langGraphPlugin({ path: '/langgraph' }));
 * ```
 */
export function langGraphPlugin(options: LangGraphOptions = {}): GatewayPlugin {
  const path = readPath(options.path ?? '/langgraph', '/langgraph');
  const conversation = readConversationOptions(options);
  return {
    name: 'langgraph',
    setup(context) {
      const routes = new LangGraphRoutes(context, { path, conversation });
      context.route(path, (call) => routes.serve(call), ROUTE);
      context.socket(path, (upgrade) => routes.accept(upgrade), {
        // The close code tells clients of the protocol whether to come back.
        fail: ({ status, code }, socket) => socket.close(4000 + status, code),
      });
    },
  };
}
