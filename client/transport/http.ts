import { type CallName, routeOf } from '../../shared/calls.js';
import { type ErrorBody, GatewayError, isGatewayError } from '../../shared/gateway-error.js';
import { isEventStream } from '../../shared/media-type.js';
import { raceSignal } from '../timing.js';
import type { CredentialSource } from './credentials.js';
import { causesOf, foreign, misused, unreachable, unsent } from './failure.js';
import type { HttpOptions } from './http-options.js';

/** One HTTP request, below the base URL. */
export interface HttpRequest {
  /** The path with its query. */
  readonly path: string;
  /** The body to POST, JSON unless the headers say otherwise. Without it the request is a GET. */
  readonly body?: BodyInit | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

/** The options of a gateway over HTTP, and the caller's credentials. */
export interface HttpClient {
  readonly options: HttpOptions;
  readonly credentials: CredentialSource;
}

/**
 * Makes a request with fresh credentials, and once more with refreshed ones after a 401.
 *
 * @throws GatewayError the gateway's own error, or `NETWORK`.
 */
export async function request({ options, credentials }: HttpClient, ask: HttpRequest): Promise<Response> {
  const { path, body, signal } = ask;
  const url = urlOf(options.baseUrl, path);
  // Called as a method of `options`, the browser's own fetch would throw.
  const { fetch = globalThis.fetch } = options;
  let mayHaveArrived = false;
  try {
    let given = await raceSignal(signal, () => credentials.read());
    for (let tries = 0; ; tries++) {
      const headers = new Headers(given.headers);
      if (given.token) headers.set('authorization', `Bearer ${given.token}`);
      if (body) headers.set('content-type', 'application/json');
      for (const name in ask.headers) headers.set(name, ask.headers[name]!);
      mayHaveArrived = true;
      // Raced as well, since an implementation may ignore the signal.
      const response = await raceSignal(signal, () =>
        fetch(url, {
          method: body ? 'POST' : 'GET',
          headers,
          signal,
          body,
          credentials: options.credentials,
        } as RequestInit),
      );
      if (response.ok) return response;
      const refusal = await readError(response, url, signal);
      mayHaveArrived = refusal.status >= 500;
      if (response.status !== 401 || tries > 0 || !credentials.isRefreshable) throw refusal;
      given = await raceSignal(signal, () => credentials.refresh(given));
    }
  } catch (cause) {
    const error = unreachable(url, cause);
    throw mayHaveArrived && !wasNeverConnected(cause) ? error : unsent(error);
  }
}

/** Asks for one operation over its route and returns the JSON of the response; undefined for 204. */
export async function requestOperation(
  client: HttpClient,
  operation: CallName,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const route = routeOf(operation);
  const path = ((route.extra && client.options.extraRoutes) || '') + route.path;
  const query = route.http === 'GET' && queryOf(Object.entries(params as object));
  const response = await request(
    client,
    route.http === 'POST'
      ? {
          path,
          body: toJson(params),
          signal,
          headers: { accept: 'application/json', prefer: 'respond-async' },
        }
      : { path: query ? `${path}?${query}` : path, signal },
  );
  if (response.status === 204) return undefined;
  if (isEvents(response)) {
    cancel(response);
    throw misused(`${path} answered with a stream: call it with stream()`);
  }
  try {
    return await raceSignal(signal, () => response.json());
  } catch (cause) {
    throw foreign(response.url || path, 'not with JSON', cause);
  }
}

/** Writes params as JSON. @throws GatewayError `INVALID_REQUEST` for a value that JSON cannot express */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw misused(`This cannot be sent as JSON: ${(cause as Error).message}`, cause);
  }
}

/** A query of the entries that are not undefined. Not every runtime has a complete `URLSearchParams`. */
export function queryOf(entries: readonly (readonly [string, unknown])[]): string {
  return entries
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
}

/** An address below a base URL, which may be relative. */
export function below(baseUrl: string, path: string): string {
  return baseUrl.replace(/\/+$/, '') + path;
}

/** An address below the mount. @throws GatewayError `INVALID_REQUEST` for a relative mount outside of a page */
export function urlOf(baseUrl: string, path: string): string {
  const url = below(baseUrl, path);
  if (/^[a-z]+:/i.test(url)) return url;
  // Only the page's own address is used, since `location` is missing outside of browsers.
  const page = (globalThis as { readonly location?: { readonly href?: string } }).location?.href;
  if (!page)
    throw misused(
      `baseUrl ${JSON.stringify(baseUrl)} is relative, and there is no page here: give the whole address`,
    );
  return new URL(url, page).href;
}

/** Whether a response can be read while it comes. React Native's own `fetch` gives only whole responses, so a stream would never arrive. */
export function canStream({ fetch }: Pick<HttpOptions, 'fetch'>): boolean {
  const { navigator } = globalThis as { readonly navigator?: { readonly product?: string } };
  return !!fetch || navigator?.product !== 'ReactNative';
}

export function isEvents({ headers }: Response): boolean {
  return isEventStream(headers.get('content-type'));
}

export function cancel(response: Response): void {
  response.body?.cancel().catch(() => {});
}

const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMITED',
};

/** The gateway's own error. A response of an intermediary becomes the closest code, and may be retried unless it is 413. */
async function readError(response: Response, url: string, signal: AbortSignal): Promise<GatewayError> {
  const { status } = response;
  const answer = (await raceSignal(signal, () => response.json()).catch(() => undefined)) as
    | { error?: ErrorBody }
    | null
    | undefined;
  const hint = hintOf(response.headers.get('retry-after') ?? '');
  if (answer?.error?.code) return GatewayError.fromJSON({ ...hint, ...answer.error }, status);
  return new GatewayError({
    code: CODES[status] ?? 'NETWORK',
    message: foreign(url, `not as a gateway does, with status ${status}`).message,
    status,
    retryable: status !== 413,
    ...hint,
  });
}

function hintOf(retryAfter: string): Pick<ErrorBody, 'retryAfterMs'> {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? {} : { retryAfterMs: Math.max(0, ms) };
}

/** Whether the runtime reports that no connection was made, so that nothing was sent. */
function wasNeverConnected(cause: unknown): boolean {
  const never = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused)$/;
  return !isGatewayError(cause) && causesOf(cause).some(({ code }) => never.test(String(code)));
}
