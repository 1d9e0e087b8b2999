import type { ServerResponse } from 'node:http';
import { REQUEST_ID, requestIdOfRequest } from '../request-id.js';

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
