import type { RouteOptions } from '../../transports/http/plugin-route.js';
import type { GatewayPlugin } from '../plugin.js';
import { fieldError } from '../ui-message-stream/errors.js';
import { sendLangGraphError } from './errors.js';
import { LangGraphRoutes } from './routes.js';
import type { StartingOptions } from './starting.js';

/** Options of `langGraphPlugin`. */
export interface LangGraphOptions {
  /** Where clients find it, below the gateway's mount: the `apiUrl` that they are given ends with it. @default '/langgraph' */
  readonly path?: string;
  /** What a message does that comes while another is answered, where its client does not say. @default 'queue' */
  readonly onBusy?: StartingOptions['onBusy'];
  /**
   * Whether messages that a client sends before the one to be answered become the beginning of a session that has not begun. A client can
   * invent what the assistant is said to have answered.
   *
   * @default true
   */
  readonly seed?: boolean;
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
 * @throws GatewayError `INVALID_REQUEST` for an option that is wrong
 *
 * @example
 * ```ts
 * gateway.use(langGraphPlugin({ path: '/langgraph' }));
 * ```
 */
export function langGraphPlugin(options: LangGraphOptions = {}): GatewayPlugin {
  const { path = '/langgraph', onBusy = 'queue', seed = true } = options;
  if (typeof path !== 'string' || !/^(?:\/[A-Za-z0-9_.-]+)+$/.test(path))
    throw fieldError('path', "must be like '/langgraph'");
  if (!['queue', 'interrupt', 'reject'].includes(onBusy))
    throw fieldError('onBusy', "must be 'queue', 'interrupt' or 'reject'");
  if (typeof seed !== 'boolean') throw fieldError('seed', 'must be true or false');
  return {
    name: 'langgraph',
    setup(context) {
      const routes = new LangGraphRoutes(context, { path, starting: { onBusy, seed } });
      context.route(path, (call) => routes.serve(call), ROUTE);
    },
  };
}
