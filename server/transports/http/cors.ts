import type { IncomingMessage, ServerResponse } from 'node:http';
import { nameAnswer } from '../request-id.js';

const MAX_AGE_SECONDS = '600';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, traceparent, X-Request-Id';
const EXPOSED_HEADERS = 'Retry-After, Preference-Applied, X-Request-Id';

/** Whether the host's own CORS layer has let the request's origin in. */
export function originAllowedByHost(request: IncomingMessage, response: ServerResponse): boolean {
  const allowed = response.getHeader('access-control-allow-origin');
  const { origin, cookie } = request.headers;
  // A wildcard counts only for requests without credentials.
  return allowed !== undefined && (allowed === origin || (allowed === '*' && cookie === undefined));
}

/** Adds the CORS headers for an origin that was let in, unless the host has set its own. */
export function allowOrigin(
  response: ServerResponse,
  origin: string | undefined,
  exposed: readonly string[] = [],
): void {
  if (origin === undefined || response.hasHeader('access-control-allow-origin')) return;
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
  response.setHeader('Access-Control-Expose-Headers', [EXPOSED_HEADERS, ...exposed].join(', '));
  response.appendHeader('Vary', 'Origin');
}

/** Whether a request is a browser's preflight. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Answers a preflight for a route of the gateway. */
export function answerPreflight(
  response: ServerResponse,
  methods: readonly string[],
  headers: readonly string[] = [],
): void {
  response.setHeader('Access-Control-Allow-Methods', methods.join(', '));
  response.setHeader('Access-Control-Allow-Headers', [REQUEST_HEADERS, ...headers].join(', '));
  response.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS);
  nameAnswer(response);
  response.writeHead(204);
  response.end();
}
