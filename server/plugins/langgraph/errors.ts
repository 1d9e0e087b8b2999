import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../../shared/errors.js';

/** Answers with an error as the classic routes have it. */
export function sendLangGraphError(error: GatewayError, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = error.status >= 400 ? error.status : 500;
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (error.retryAfterMs !== undefined)
    response.setHeader('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  const { code, message, requestId } = error;
  const detail = requestId === undefined ? message : `${message} (${requestId})`;
  sendJson(response, { error: code, message: detail, detail }, status);
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}
