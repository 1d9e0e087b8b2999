import type { ServerResponse } from 'node:http';
import { type GatewayError, isGatewayError } from '../../../shared/errors.js';

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const SERVER_ERROR = -32000;
/** The code that the SDK's transport sends with it. */
export const SESSION_NOT_FOUND = -32001;

/** Answers a request that reaches no server of the SDK, in the same way as the SDK's transport. */
export function answerError(
  response: ServerResponse,
  status: number,
  {
    code = SERVER_ERROR,
    message,
    data,
    id = null,
  }: {
    readonly code?: number;
    readonly message: string;
    readonly data?: unknown;
    /** @default it is not known */
    readonly id?: unknown;
  },
): void {
  if (response.headersSent) return;
  const error = { code, message, ...(data !== undefined && { data }) };
  const body = JSON.stringify({ jsonrpc: '2.0', error, id });
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(body);
}

/** Answers with an error of the gateway in the form that MCP clients read. */
export function answerGatewayError(response: ServerResponse, error: GatewayError): void {
  const { status, code, message, retryAfterMs, cause } = error;
  const invalid = cause instanceof SyntaxError ? PARSE_ERROR : INVALID_REQUEST;
  if (retryAfterMs !== undefined) response.setHeader('Retry-After', String(Math.ceil(retryAfterMs / 1000)));
  answerError(response, status, {
    code: code === 'INVALID_REQUEST' ? invalid : SERVER_ERROR,
    message,
    data: { code },
  });
}

/** Whether an error is told in the form of MCP: an invalid request, or an exceeded limit. The gateway answers others. */
export function isRefusal(error: unknown): error is GatewayError {
  if (!isGatewayError(error) || error.status === 401) return false;
  return (error.status >= 400 && error.status < 500) || error.code === 'OVERLOADED';
}
