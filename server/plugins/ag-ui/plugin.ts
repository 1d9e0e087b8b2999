import type { RouteOptions } from '../../transports/http/plugin-route.js';
import type { GatewayPlugin } from '../plugin.js';
import { ERROR_HEADER, fieldError, sendUiError } from '../ui-message-stream/errors.js';
import type { PostingOptions } from './posting.js';
import { AgUiRoutes } from './routes.js';

/** Options of `agUiPlugin`. */
export interface AgUiOptions {
  /** Where agents and CopilotKit's runtime are, below the gateway's mount. @default '/ag-ui' */
  readonly path?: string;
  /** What a message does that comes while another is answered. @default 'queue' */
  readonly onBusy?: PostingOptions['onBusy'];
  /** Whether questions that are open when a user's message comes stay so, or are denied first. @default 'keep' */
  readonly openQuestions?: PostingOptions['openQuestions'];
  /**
   * Whether a conversation that a client already has becomes the beginning of a session that has not begun. A client can invent what the
   * assistant and its tools are said to have answered.
   *
   * @default true
   */
  readonly seed?: boolean;
}

const ROUTE = {
  methods: ['GET', 'POST'],
  requestHeaders: ['Idempotency-Key', 'User-Agent'],
  exposedHeaders: [ERROR_HEADER],
  fail: sendUiError,
} satisfies RouteOptions;

/**
 * Serves the gateway's sessions to agents of the AG-UI protocol as they are, and to CopilotKit in place of its runtime.
 *
 * @throws GatewayError `INVALID_REQUEST` for an option that is wrong
 *
 * @example
 * ```ts
 * gateway.use(agUiPlugin({ path: '/ag-ui' }));
 * ```
 */
export function agUiPlugin(options: AgUiOptions = {}): GatewayPlugin {
  const { path = '/ag-ui', onBusy = 'queue', openQuestions = 'keep', seed = true } = options;
  if (typeof path !== 'string' || !/^(?:\/[A-Za-z0-9_.-]+)+$/.test(path))
    throw fieldError('path', "must be like '/ag-ui'");
  if (!['queue', 'interrupt', 'reject'].includes(onBusy))
    throw fieldError('onBusy', "must be 'queue', 'interrupt' or 'reject'");
  if (openQuestions !== 'keep' && openQuestions !== 'deny')
    throw fieldError('openQuestions', "must be 'keep' or 'deny'");
  if (typeof seed !== 'boolean') throw fieldError('seed', 'must be true or false');
  return {
    name: 'ag-ui',
    setup(context) {
      const routes = new AgUiRoutes(context, { path, posting: { onBusy, openQuestions, seed } });
      context.route(path, (call) => routes.serve(call), ROUTE);
    },
  };
}
