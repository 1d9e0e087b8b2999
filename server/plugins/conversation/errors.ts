import type { ServerResponse } from 'node:http';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';

/** Carries the code of an error: its text is what the user is shown. */
export const ERROR_HEADER = 'x-error-code';

/** Makes an error about a field of a request, or of the options. */
export function fieldError(path: string, message: string): GatewayError {
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}

/** Answers with an error as a plain sentence, which interfaces show as it is. Nothing can be said once the response has begun. */
export function sendUiError(error: GatewayError, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = error.status >= 400 ? error.status : 500;
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (error.retryAfterMs !== undefined)
    response.setHeader('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  const { code, message, requestId } = error;
  const body = requestId === undefined ? message : `${message} (${requestId})`;
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(body),
    [ERROR_HEADER]: String(code),
  });
  response.end(body);
}

/** Answers with JSON. */
export function sendUiJson(response: ServerResponse, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** The code of an error of the gateway. */
export function codeOf(error: unknown): string | undefined {
  return isGatewayError(error) ? error.code : undefined;
}
