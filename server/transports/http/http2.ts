import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2';

/**
 * Gives what Node made of an HTTP/2 stream the few things that it lacks of an HTTP/1.1 exchange, so that nobody else has to tell them
 * apart: the host that the request is for, and whether the response can still be read.
 */
export function levelHttp2(request: IncomingMessage, response: ServerResponse): void {
  if (request.httpVersionMajor < 2) return;
  const authority = request.headers[':authority'];
  if (typeof authority === 'string') request.headers.host = authority;
  if ('closed' in response) return;
  const { stream } = response as unknown as Http2ServerResponse;
  Object.defineProperty(response, 'closed', { get: () => stream.destroyed });
}

/** Has the connection end with a response, whose request is not read to its end. An HTTP/2 connection has other streams and stays. */
export function endConnection(response: ServerResponse): void {
  if (response.req.httpVersionMajor < 2) response.setHeader('Connection', 'close');
}

/** Whether a request without a length brings a body. HTTP/1.1 announces one; in HTTP/2 there is one unless the stream ended with its head. */
export function bringsBody(request: IncomingMessage): boolean {
  if (request.headers['transfer-encoding'] !== undefined) return true;
  if (request.httpVersionMajor < 2) return false;
  const stream: Partial<ServerHttp2Stream> | undefined = (request as unknown as Http2ServerRequest).stream;
  return stream?.endAfterHeaders !== true;
}
