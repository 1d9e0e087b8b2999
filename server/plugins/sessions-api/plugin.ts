import type { GatewayError } from '../../../shared/errors.js';
import type { RouteOptions } from '../../transports/http/plugin-route.js';
import { saidOf, sendError } from '../conversation/answering.js';
import { inTerms } from '../conversation/errors.js';
import { readOnBusy, readPrefix } from '../conversation/options.js';
import { CLIENT_HEADERS } from '../openai/client-headers.js';
import type { GatewayPlugin } from '../plugin.js';
import { SessionsApiRoutes } from './routes.js';

/** Options of `sessionsApiPlugin`. */
export interface SessionsApiOptions {
  /** The prefix of the paths, below the gateway's mount. @default '/v1' */
  readonly path?: string;
  /** Ids of agents and the apps behind them. The apps' own names are agents too. */
  readonly agentMapping?: Readonly<Record<string, string>>;
  /** The effect of a message that comes while another one is answered. @default 'queue' */
  readonly onBusy?: 'queue' | 'interrupt' | 'reject';
}

/** The client's names for what a request passes on. */
const TERMS = { message: 'content', metadata: 'metadata', sessionId: 'session_id' } as const;

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

function errorBody(error: GatewayError, status: number): object {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const said = { type, message: saidOf(inTerms(TERMS, error)), code: error.code };
  return { type: 'error', error: said, request_id: error.requestId ?? null };
}

const ROUTE = {
  methods: ['GET', 'POST', 'DELETE'],
  requestHeaders: [
    ...['Last-Event-ID', 'X-Api-Key', 'Anthropic-Version', 'Anthropic-Beta', 'Idempotency-Key'],
    ...['Anthropic-Dangerous-Direct-Browser-Access', ...CLIENT_HEADERS],
  ],
  fail: (error, response) => sendError(response, error, (status) => errorBody(error, status)),
} satisfies RouteOptions;

/**
 * Serves the gateway's sessions as those of a vendor's sessions API, for its unmodified clients: agents are apps, threads are child runs.
 *
 * @throws GatewayError `INVALID_REQUEST` for an invalid option; from `gateway.use` for a mapping to an unknown app
 *
 * @example
 * ```ts
 * gateway.use(sessionsApiPlugin({ agentMapping: { agent_011: 'assistant' } }));
 * ```
 */
export function sessionsApiPlugin({ agentMapping = {}, ...options }: SessionsApiOptions = {}): GatewayPlugin {
  const path = `${readPrefix('path', options.path)}/sessions`;
  const onBusy = readOnBusy(options.onBusy);
  return {
    name: 'sessions-api',
    setup(context) {
      const routes = new SessionsApiRoutes(context, { path, agentMapping, onBusy });
      context.route(path, (call) => routes.serve(call), ROUTE);
    },
  };
}
