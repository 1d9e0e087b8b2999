import type { ServerResponse } from 'node:http';
import { REQUEST_ID, requestIdOfRequest } from '../request-id.js';

/** What names the request that a response answers. */
export function requestIdOf(response: ServerResponse): string {
  return requestIdOfRequest(response.req, response.getHeader(REQUEST_ID));
}

/** Takes over what a host has named a request, before anybody asks for its name. */
export function takeName(response: ServerResponse): void {
  if (response.hasHeader(REQUEST_ID)) requestIdOf(response);
}

/** Puts it on an answer that somebody else will write. */
export function nameAnswer(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader(REQUEST_ID, requestIdOf(response));
}
