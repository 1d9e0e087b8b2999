import type { IncomingMessage } from 'node:http';
import { newRequestId } from '../ids.js';

/** The header that names a request, in both directions. */
export const REQUEST_ID = 'X-Request-Id';

/** What a caller or proxy may name a request: what can stand in every log, header and URL as it is. */
const WELL_FORMED = /^[\w.:@+/=-]{1,128}$/;

const KEPT = Symbol('request id');

/**
 * What names a request, in its answer, in the body of its error and in the log: what a host has put on the answer already, what came
 * with the request, or a new one. The same each time it is asked for.
 *
 * @param answered The header that the answer has, where it has one; it counts the first time.
 */
export function requestIdOfRequest(
  request: IncomingMessage & { [KEPT]?: string },
  answered?: number | string | readonly string[],
): string {
  request[KEPT] ??= wellFormed(answered) ?? wellFormed(request.headers['x-request-id']) ?? newRequestId();
  return request[KEPT];
}

function wellFormed(value: unknown): string | undefined {
  return typeof value === 'string' && WELL_FORMED.test(value) ? value : undefined;
}
