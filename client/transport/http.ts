import { type ErrorBody, GatewayError, isGatewayError } from '../../shared/errors.js';
import { OPERATIONS, type OperationName } from '../../shared/operations.js';
import type { HttpOptions, Source } from '../options.js';

/** One HTTP request, below the base URL. */
export interface HttpRequest {
  readonly path: string;
  readonly query?: URLSearchParams | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Makes a request with fresh credentials, and once more with refreshed ones after a 401.
 *
 * @throws GatewayError what the gateway answered, or `NETWORK`.
 */
export async function request(options: HttpOptions, ask: HttpRequest, refresh = false): Promise<Response> {
  const { baseUrl, credentials } = options;
  const query = ask.query?.size ? `?${ask.query}` : '';
  let response: Response;
  try {
    const headers = new Headers(await read(options.headers, refresh));
    const token = await read(options.token, refresh);
    if (token) headers.set('authorization', `Bearer ${token}`);
    const post = ask.body !== undefined;
    if (post) headers.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(ask.headers ?? {})) headers.set(name, value);
    // Called as a method of `options`, the browser's own fetch would refuse.
    const run = options.fetch ?? globalThis.fetch;
    response = await run(baseUrl.replace(/\/+$/, '') + ask.path + query, {
      method: post ? 'POST' : 'GET',
      headers,
      signal: ask.signal,
      ...(post && { body: JSON.stringify(ask.body) }),
      ...(credentials && { credentials }),
    });
  } catch (cause) {
    throw asNetworkError(cause);
  }
  if (response.ok) return response;
  if (response.status === 401 && !refresh) {
    await response.body?.cancel().catch(() => {});
    return request(options, ask, true);
  }
  throw await readError(response);
}

/** Asks for one operation over its route and reads the JSON it answers; undefined for 204. */
export async function requestOperation(
  options: HttpOptions,
  operation: OperationName,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const { http, path } = OPERATIONS[operation];
  const headers = operation === 'send' ? { prefer: 'respond-async' } : undefined;
  const response = await request(options, {
    path,
    signal,
    headers,
    ...(http === 'GET' ? { query: toQuery(params as object) } : { body: params }),
  });
  if (response.status === 204) return undefined;
  if (!isType(response, 'application/json')) {
    await response.body?.cancel().catch(() => {});
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: `${path} did not answer with JSON; is the method a stream?`,
    });
  }
  try {
    return await response.json();
  } catch (cause) {
    throw asNetworkError(cause);
  }
}

export function isType(response: Response, mediaType: string): boolean {
  return !!response.headers.get('content-type')?.startsWith(mediaType);
}

/** What is not ours is a failure of the network, whose effect is unknown. */
export function asNetworkError(cause: unknown): GatewayError {
  return isGatewayError(cause) ? cause : new GatewayError({ code: 'NETWORK', cause });
}

function toQuery(params: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined) query.set(name, String(value));
  return query;
}

/** The present value of an option. */
export function read<T>(source: Source<T> | undefined, refresh: boolean): T | Promise<T> | undefined {
  return typeof source === 'function'
    ? (source as (context: { refresh: boolean }) => T | Promise<T>)({ refresh })
    : source;
}

const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'ACCESS_DENIED',
  404: 'ROUTE_NOT_FOUND',
  408: 'NETWORK',
  429: 'RATE_LIMITED',
};

/** The gateway's own error, or the closest one for an answer of something in between. */
async function readError(response: Response): Promise<GatewayError> {
  const { status } = response;
  const answer = (await response.json().catch(() => undefined)) as { error?: ErrorBody } | null | undefined;
  const seconds = Number(response.headers.get('retry-after') ?? undefined);
  const hint = seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {};
  if (answer?.error?.code) return GatewayError.fromJSON({ ...hint, ...answer.error }, status);
  const code = CODES[status] ?? (status < 500 ? 'INVALID_REQUEST' : 'NETWORK');
  return new GatewayError({ code, message: `The server answered with status ${status}`, status, ...hint });
}
