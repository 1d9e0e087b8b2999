import type { IncomingMessage, ServerResponse } from 'node:http';
import { newRequestId } from '../ids.js';

/** The header that names a request, in both directions. */
export const REQUEST_ID = 'X-Request-Id';

/** Request ids that callers and proxies may choose: safe in every log, header and URL. */
const WELL_FORMED = /^[\w.:@+/=-]{1,128}$/;

const KEPT = Symbol('request id');

/**
 * The id of a request, in its response, in the body of its error and in the log. It is the id that a host has set on the response, the one
 * that came with the request, or a new one. Every call returns the same id.
 *
 * @param answered The header that the response has, if any. Only the first call uses it.
 */
export function requestIdOfRequest(
  request: IncomingMessage & { [KEPT]?: string },
  answered?: number | string | readonly string[],
): string {
  request[KEPT] ??= wellFormed(answered) ?? wellFormed(request.headers['x-request-id']) ?? newRequestId();
  return request[KEPT];
}

/** The id of the request that a response answers. */
export function requestIdOf(response: ServerResponse): string {
  return requestIdOfRequest(response.req, response.getHeader(REQUEST_ID));
}

/** Takes over the id that a host has given a request. Call it before anything else asks for the id. */
export function takeName(response: ServerResponse): void {
  if (response.hasHeader(REQUEST_ID)) requestIdOf(response);
}

/** Sets the request id on a response that other code will write. */
export function nameAnswer(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader(REQUEST_ID, requestIdOf(response));
}

function wellFormed(value: unknown): string | undefined {
  return typeof value === 'string' && WELL_FORMED.test(value) ? value : undefined;
}
