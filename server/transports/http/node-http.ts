import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2';
import { Socket } from 'node:net';
import type { Ticker, TickerItem } from '../../delivery/ticker.js';

/**
 * Gives Node's HTTP/2 request and response the two things that they lack, so that no other code has to tell the versions apart: the host
 * of the request, and whether the response can still be read.
 */
export function levelHttp2(request: IncomingMessage, response: ServerResponse): void {
  if (request.httpVersionMajor < 2) return;
  const authority = request.headers[':authority'];
  if (typeof authority === 'string') request.headers.host = authority;
  if ('closed' in response) return;
  const { stream } = response as unknown as Http2ServerResponse;
  Object.defineProperty(response, 'closed', { get: () => stream.destroyed });
}

/** Bounds of what is read of a refused body. */
const READ_ON_BYTES = 64 * 1024 * 1024;
const READ_ON_MS = 10_000;

/**
 * Reads on and drops the rest of a body that was refused: many clients hear an answer only when they have sent everything. The
 * connection ends where that takes too long. An HTTP/2 stream ends by itself.
 */
export function readOn({ req: request }: ServerResponse, ticker: Ticker): void {
  const { socket } = request;
  if (request.complete || request.httpVersionMajor >= 2 || !(socket instanceof Socket)) return;
  const most = socket.bytesRead + READ_ON_BYTES;
  let until = Number.POSITIVE_INFINITY;
  const item: TickerItem = {
    tick: (now) => {
      until = Math.min(until, now + READ_ON_MS);
      const isOver = request.complete || socket.destroyed;
      if (!isOver && now < until && socket.bytesRead < most) return;
      ticker.delete(item);
      if (!isOver) socket.destroy();
    },
  };
  ticker.add(item);
  request.resume();
}

/** Whether a request without a length has a body. HTTP/1.1 announces it; an HTTP/2 request has one unless its stream ended with the head. */
export function bringsBody(request: IncomingMessage): boolean {
  if (request.headers['transfer-encoding'] !== undefined) return true;
  if (request.httpVersionMajor < 2) return false;
  const stream: Partial<ServerHttp2Stream> | undefined = (request as unknown as Http2ServerRequest).stream;
  return stream?.endAfterHeaders !== true;
}

/** The responses of a connection that wait for earlier ones. */
const queued = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Closes a response that waits behind others when its connection ends. Node closes only the response whose turn it is, and the others would
 * hold their resources for good.
 */
export function hearOfEnd(response: ServerResponse): void {
  if (response.socket !== null) return;
  const { socket: connection } = response.req;
  if (connection.destroyed) return end(response);
  const waiting = queued.get(connection) ?? follow(connection);
  waiting.add(response);
  response.once('socket', () => waiting.delete(response));
}

/** Adds one listener for all waiting responses of a connection, because there may be many. */
function follow(connection: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  queued.set(connection, waiting);
  connection.once('close', () => waiting.forEach(end));
  return waiting;
}

/** Closes a response by giving it a closed socket, since Node closes a response with its connection. */
function end(response: ServerResponse): void {
  response.assignSocket(new Socket().destroy());
}
