import type { ServerResponse } from 'node:http';
import { cut } from '../../../shared/cut.js';
import { GatewayError } from '../../../shared/errors.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { beginError, saidOf, sendJson } from '../conversation/answering.js';
import type { FieldProblem } from '../conversation/errors.js';

/** The error object of the vendor's API. All four fields are always present. */
export interface ChatErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** Codes that clients of the vendor's API know, if they differ from the gateway's codes in lower case. */
const VENDOR_CODES: Readonly<Record<string, string | null>> = {
  UNAUTHENTICATED: 'invalid_api_key',
  BUDGET_EXHAUSTED: 'insufficient_quota',
  APP_NOT_FOUND: 'model_not_found',
  RATE_LIMITED: 'rate_limit_exceeded',
  INVALID_REQUEST: null,
  INVALID_PARAMS: null,
};

/** An error of the gateway in the vendor's shape. */
export function toChatError(error: GatewayError): ChatErrorBody {
  const { code, status } = error;
  const [problem] = Array.isArray(error.details) ? (error.details as readonly Partial<FieldProblem>[]) : [];
  const fallback = Object.hasOwn(VENDOR_CODES, code) ? VENDOR_CODES[code]! : code.toLowerCase();
  return {
    error: {
      message: saidOf(error),
      type: typeOf(status),
      param: typeof problem?.path === 'string' && problem.path !== '' ? problem.path : null,
      code: typeof problem?.code === 'string' ? problem.code : fallback,
    },
  };
}

function typeOf(status: number): string {
  if (status === 402) return 'insufficient_quota';
  if (status === 429) return 'rate_limit_error';
  return status >= 400 && status < 500 ? 'invalid_request_error' : 'server_error';
}

/** Forbids clients to repeat a failed request: it has begun to change something, and this protocol has no key to recognize a retry. */
export function forbidRetry(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('x-should-retry', 'false');
}

/** Answers with an error in the vendor's shape. A response that has begun is cut. */
export function sendChatError(error: GatewayError, response: ServerResponse): void {
  const { status } = error;
  // The vendor's clients try again by themselves, also what no waiting mends.
  if (status === 429 && error.retryAfterMs === undefined) forbidRetry(response);
  const retryAfterMs = response.hasHeader('x-should-retry')
    ? undefined
    : (error.retryAfterMs ?? (status === 503 ? 1000 : undefined));
  const told = beginError({ status, retryAfterMs }, response);
  if (told !== null) sendJson(response, toChatError(error), told);
}

/** The error of an unknown route. Clients of the vendor's API read no other form. */
export function notServed({ request, path }: Pick<PluginRequest, 'request' | 'path'>): GatewayError {
  return new GatewayError({
    code: 'ROUTE_NOT_FOUND',
    message: `There is no ${request.method} ${cut(path, 128)}`,
  });
}
