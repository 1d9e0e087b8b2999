import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../../shared/errors.js';
import { isLater, type MaybeLater } from '../../async/eventual.js';
import { jsonText } from '../../schema/json-text.js';
import { publicError } from '../public-error.js';
import { nameAnswer, REQUEST_ID, requestIdOf } from '../request-id.js';
import type { CalledBy } from './http-call.js';
import type { HttpEnvironment } from './http-environment.js';
import { readOn } from './node-http.js';
import type { PluginRoute } from './plugin-route.js';
import { isUnread, readerKey } from './unread.js';

/** Headers of a JSON response. Node writes a flat list as it is, but copies and walks an object for every response. */
const jsonHeaders = (length: number, requestId: string): string[] => [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
  REQUEST_ID,
  requestId,
  'Content-Length',
  String(length),
];

/** Answers with JSON; without a body for `undefined` and values that JSON leaves out. @throws TypeError for a value that is no JSON */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = jsonText(value);
  if (body === undefined) {
    nameAnswer(response);
    response.writeHead(204, { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    response.end();
    return;
  }
  response.writeHead(status, jsonHeaders(Buffer.byteLength(body), requestIdOf(response)));
  response.end(body);
}

/** Answers with an error and its headers. Cuts the response if it has begun already. */
export function sendError(
  response: ServerResponse,
  error: GatewayError,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent) return void response.destroy();
  if (error.status === 401 && !response.hasHeader('WWW-Authenticate'))
    response.setHeader('WWW-Authenticate', 'Bearer');
  if (error.retryAfterMs !== undefined) {
    response.setHeader('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const requestId = requestIdOf(response);
  const body = { ...error.toJSON(), requestId };
  const again = error.status === 503 && body.retryAfterMs === undefined;
  if (again) response.setHeader('Retry-After', '1');
  sendJson(response, error.status >= 400 ? error.status : 500, {
    error: again ? { ...body, retryAfterMs: 1000 } : body,
  });
}

const FALLBACK = JSON.stringify({
  error: { code: 'INTERNAL', message: 'Internal error', status: 500, retryable: false },
});

/** Ends a response that could not be answered otherwise. Never throws. */
export function sendFallback(response: ServerResponse): void {
  try {
    if (response.headersSent) return void response.destroy();
    // One of the headers that were set before may be the one that can't be sent.
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.writeHead(500, jsonHeaders(FALLBACK.length, requestIdOf(response)));
    response.end(FALLBACK);
  } catch {
    response.destroy();
  }
}

/** The caller of a request and the plugin that serves it, if known. */
export interface ResponseContext {
  readonly by?: CalledBy;
  readonly plugin?: PluginRoute;
}

/** Ends each request once, with its result or with an error. Never throws. */
export class Responder {
  readonly #env: Pick<HttpEnvironment, 'ticker' | 'unread' | 'report'>;

  constructor(env: Pick<HttpEnvironment, 'ticker' | 'unread' | 'report'>) {
    this.#env = env;
  }

  /** Answers with a value as JSON, once it is known. */
  json(response: ServerResponse, by: CalledBy, value: MaybeLater<unknown>): void {
    if (!isLater(value)) return this.#write(response, by, value);
    value.then(
      (late) => this.#write(response, by, late),
      (error: unknown) => this.fail(response, error, { by }),
    );
  }

  #write(response: ServerResponse, by: CalledBy, value: unknown): void {
    if (response.closed) return;
    try {
      sendJson(response, 200, value);
    } catch (error) {
      return this.fail(response, error, { by });
    }
    this.over(response, by);
  }

  /** Waits for a handler that writes the response itself. */
  await(response: ServerResponse, serving: Promise<unknown>, answering: ResponseContext = {}): void {
    serving.then(
      () => this.over(response, answering.by),
      (error: unknown) => this.fail(response, error, answering),
    );
  }

  /** Answers with an error, or ends the response. */
  fail(response: ServerResponse, error: unknown, { by, plugin }: ResponseContext = {}): void {
    try {
      const shown = publicError(error, this.#env.report, {
        requestId: requestIdOf(response),
        facts: () => by?.facts?.() ?? { transport: 'http' },
      });
      if (shown.status === 413 && !plugin && !response.headersSent) readOn(response, this.#env.ticker);
      const answer = plugin?.options.fail;
      if (answer) answer(shown, response);
      else sendError(response, shown);
    } catch (problem) {
      this.#env.report(problem, 'answering with an error failed');
      sendFallback(response);
    }
    this.over(response, by);
  }

  /** Watches a response that is written but not read yet, so that it ends if nobody reads it. */
  over(response: ServerResponse, by?: CalledBy): void {
    if (!isUnread(response)) return;
    try {
      this.#env.unread.watch(response, by && readerKey(by.person, by.address));
    } catch (error) {
      this.#env.report(error, 'watching an answer failed');
    }
  }
}
