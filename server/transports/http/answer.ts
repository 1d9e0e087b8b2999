import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../../shared/errors.js';

// A flat list is written as it is; an object would be copied and walked for every answer.
const JSON_HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Content-Length',
];

/** Answers with JSON; without a body for `undefined` and what JSON leaves out. @throws TypeError for what is no JSON */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body: string | undefined = JSON.stringify(value);
  if (body === undefined) {
    response.writeHead(204, { 'Cache-Control': 'no-store' });
    response.end();
    return;
  }
  response.writeHead(status, [...JSON_HEADERS, String(Buffer.byteLength(body))]);
  response.end(body);
}

/** Answers with an error, with the headers that belong to it. Nothing can be said once the response has begun. */
export function sendError(
  response: ServerResponse,
  error: GatewayError,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent) return void response.destroy();
  if (error.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (error.retryAfterMs !== undefined) {
    response.setHeader('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const body = error.toJSON();
  const retryable =
    error.status === 503 && body.retryAfterMs === undefined ? { ...body, retryAfterMs: 1000 } : body;
  if (retryable !== body) response.setHeader('Retry-After', '1');
  sendJson(response, error.status >= 400 ? error.status : 500, { error: retryable });
}

const FALLBACK = JSON.stringify({
  error: { code: 'INTERNAL', message: 'Internal error', status: 500, retryable: false },
});

/** Ends a response that could not be answered otherwise. Never throws. */
export function sendFallback(response: ServerResponse): void {
  try {
    if (response.headersSent) return void response.destroy();
    // What was set before may be what can't be sent.
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.writeHead(500, [...JSON_HEADERS, String(FALLBACK.length)]);
    response.end(FALLBACK);
  } catch {
    response.destroy();
  }
}
