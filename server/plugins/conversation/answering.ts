import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../../shared/errors.js';

/** The status and headers of a whole answer. */
export interface AnswerHead {
  /** @default 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with a whole body. */
export function sendBody(
  response: ServerResponse,
  type: string,
  body: string,
  { status = 200, headers }: AnswerHead = {},
): void {
  response.writeHead(status, {
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  sendBody(response, 'application/json', JSON.stringify(value), { status });
}

/** Answers with a list of JSON texts, which are made one by one: others wait while one is made. */
export async function sendList(response: ServerResponse, items: Iterable<string>): Promise<void> {
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  let before = '[';
  for (const item of items) {
    if (response.closed) return;
    response.write(before + item);
    before = ',';
    await new Promise(setImmediate);
  }
  response.end(before === '[' ? '[]' : ']');
}

/**
 * Begins an error response, with the headers for logging in and for coming back later.
 *
 * @returns Its status; null if the response has already begun: it is then cut
 */
export function beginError(
  { status, retryAfterMs }: { readonly status: number; readonly retryAfterMs?: number | undefined },
  response: ServerResponse,
): number | null {
  if (response.headersSent) {
    response.destroy();
    return null;
  }
  if (status === 401 && !response.hasHeader('WWW-Authenticate'))
    response.setHeader('WWW-Authenticate', 'Bearer');
  if (retryAfterMs !== undefined)
    response.setHeader('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  return status >= 400 ? status : 500;
}

/** Answers with an error as JSON. @param body Makes it, of the status */
export function sendError(
  response: ServerResponse,
  error: GatewayError,
  body: (status: number) => unknown,
): void {
  const status = beginError(error, response);
  if (status !== null) sendJson(response, body(status), status);
}

/** An event of a stream of Server-Sent Events. @param id Present if a client may come back behind the event */
export function eventText(event: string, data: unknown, id?: string | null): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${id == null ? '' : `id: ${id}\n`}\n`;
}

/** The message of an error, with the id of its log entry. */
export function saidOf({ message, requestId }: GatewayError): string {
  return requestId === undefined ? message : `${message} (${requestId})`;
}

/** Aborts when a caller no longer waits for its response. */
export function leftBy(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  if (response.closed) gone.abort();
  return gone.signal;
}
