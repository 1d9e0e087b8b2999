import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HandleOptions } from '../request.js';
import { FetchRequest } from './fetch-request.js';
import { cutOff, FetchSocket, type ResponseHead } from './fetch-socket.js';

/** How a host hands a web request over. */
export interface FetchOptions extends HandleOptions {
  /** The client's address, for the limit on failed attempts to authenticate; without it all clients share one. */
  readonly ip?: string | undefined;
}

/** Statuses that have no body (the Fetch standard's null body statuses). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Serves a web `Request` with a handler of Node requests. Resolves with the response once its head is complete; the body follows as it is
 * read. A client that cancels the body or aborts the request has left.
 *
 * @throws the request's abort reason, if it is aborted before the head is complete
 */
export function serveFetch(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  request: Request,
  ip = '',
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    const encrypted = request.url.startsWith('https:');
    const socket = new FetchSocket({ encrypted, ip }, ({ status, statusText, headers }: ResponseHead) => {
      const body = WITHOUT_BODY.has(status) || request.method === 'HEAD' ? null : socket.body;
      resolve(new Response(body, { status, statusText, headers }));
    });
    const incoming = new FetchRequest(request, socket);
    const outgoing = new ServerResponse(incoming);
    // The host frames the body and dates the response.
    outgoing.useChunkedEncodingByDefault = false;
    outgoing.sendDate = false;
    outgoing.assignSocket(socket as unknown as Socket);
    outgoing.once('finish', () => socket.end());
    const abort = (): void => socket.leave();
    signal.addEventListener('abort', abort, { once: true });
    socket.on('drain', () => outgoing.emit('drain'));
    socket.on('error', () => {});
    socket.once('close', () => {
      signal.removeEventListener('abort', abort);
      // Nobody will read the rest of the body.
      if (incoming.complete) incoming.resume();
      else incoming.destroy();
      reject(signal.aborted ? signal.reason : cutOff());
    });
    if (signal.aborted) return abort();
    handle(incoming, outgoing);
  });
}
