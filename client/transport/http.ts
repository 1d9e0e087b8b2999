import { CALLS, type CallName, isExtraRoute } from '../../shared/calls.js';
import { type ErrorBody, GatewayError, isGatewayError } from '../../shared/gateway-error.js';
import type { HttpOptions, Source } from '../options.js';

/** One HTTP request, below the base URL. */
export interface HttpRequest {
  /** With its query. */
  readonly path: string;
  /** JSON to POST; without it the request is a GET. */
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Makes a request with fresh credentials, and once more with refreshed ones after a 401.
 *
 * @throws GatewayError what the gateway answered, or `NETWORK`.
 */
export async function request(options: HttpOptions, ask: HttpRequest, refresh = false): Promise<Response> {
  // Called as a method of `options`, the browser's own fetch would refuse.
  const { baseUrl, credentials, fetch = globalThis.fetch } = options;
  const { path, body, signal } = ask;
  let response: Response;
  try {
    const headers = new Headers(await read(options.headers, refresh));
    const token = await read(options.token, refresh);
    if (token) headers.set('authorization', `Bearer ${token}`);
    if (body) headers.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(ask.headers ?? {})) headers.set(name, value);
    response = await fetch(baseUrl.replace(/\/+$/, '') + path, {
      // Without one, fetch itself asks with GET.
      method: (body && 'POST')!,
      headers,
      signal,
      credentials: credentials!,
      body: body!,
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
  operation: CallName,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const route = CALLS[operation];
  const { http } = route;
  const path = ((isExtraRoute(route) && options.extraRoutes) || '') + route.path;
  const body = JSON.stringify(params);
  const response = await request(
    options,
    http === 'POST'
      ? { path, body, signal, headers: { accept: 'application/json', prefer: 'respond-async' } }
      : // JSON has dropped what is undefined; a query would write it out.
        { path: `${path}?${new URLSearchParams(JSON.parse(body))}`, signal },
  );
  if (response.status === 204) return undefined;
  if (!isType(response, 'application/json')) {
    await response.body?.cancel().catch(() => {});
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      status: 400,
      message: `${path} answered without JSON`,
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
  return isGatewayError(cause)
    ? cause
    : new GatewayError({ code: 'NETWORK', message: 'The gateway cannot be reached', cause });
}

/** The present value of an option. */
export function read<T>(source: Source<T> | undefined, refresh: boolean): T | Promise<T> | undefined {
  return typeof source === 'function'
    ? (source as (context: { refresh: boolean }) => T | Promise<T>)({ refresh })
    : source;
}

const CODES: Readonly<Record<number, string>> = { 401: 'UNAUTHENTICATED', 429: 'RATE_LIMITED' };

/** The gateway's own error, or the closest one for an answer of something in between. */
async function readError(response: Response): Promise<GatewayError> {
  const { status } = response;
  const answer = (await response.json().catch(() => undefined)) as { error?: ErrorBody } | null | undefined;
  const seconds = Number(response.headers.get('retry-after') ?? undefined);
  const hint = seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {};
  if (answer?.error?.code) return GatewayError.fromJSON({ ...hint, ...answer.error }, status);
  const code = CODES[status] ?? (status < 500 ? 'INVALID_REQUEST' : 'NETWORK');
  return new GatewayError({ code, message: `Answered with status ${status}`, status, ...hint });
}
