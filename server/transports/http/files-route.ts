import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import { Stall } from '../../delivery/stall.js';
import type { TickerItem } from '../../delivery/ticker.js';
import type { Upload } from '../../files/uploads.js';
import type { ByteRange } from '../../stores/files/file-store.js';
import { nameAnswer } from '../request-id.js';
import { sentBytes } from '../sent-bytes.js';
import { sendJson } from './answer.js';
import { mayTakeLong } from './carried.js';
import { fileHeaders, isFresh, rangeOf } from './file-headers.js';
import type { HttpCall } from './http-call.js';
import type { HttpEnvironment } from './http-environment.js';
import { bringsBody, readOn } from './node-http.js';

/** Headers of a file's response that a page of another origin may read; the second list has those that it may send. */
export const FILE_ANSWER_HEADERS = ['Accept-Ranges', 'Content-Disposition', 'Content-Range', 'ETag'];
export const FILE_REQUEST_HEADERS = ['Range', 'If-Range', 'If-None-Match'];

/** Stores an upload while it arrives, and answers with the stored file. @throws GatewayError */
export async function uploadRoute(
  env: HttpEnvironment,
  request: IncomingMessage,
  response: ServerResponse,
  { caller, query, parsed }: { readonly caller: HttpCall; readonly query: string; readonly parsed: unknown },
): Promise<void> {
  const params = new URLSearchParams(query);
  const { headers } = request;
  const length = headers['content-length'];
  checkEncoding(headers);
  mayTakeLong(request);
  const upload: Upload = {
    bytes: bytesOf(env, request, parsed),
    ...(length !== undefined && { length: Number(length) }),
    name: params.get('name') ?? undefined,
    mediaType: params.get('mediaType') ?? headers['content-type'],
  };
  try {
    const file = await env.operations.upload(upload, caller);
    if (response.closed) return;
    response.setHeader('Location', file.url);
    sendJson(response, 201, file);
  } catch (error) {
    if (!response.headersSent) readOn(response, env.ticker);
    throw error;
  }
}

/** @throws GatewayError `UNSUPPORTED_MEDIA_TYPE` for a body that is not the file itself */
function checkEncoding(headers: IncomingMessage['headers']): void {
  const encoding = headers['content-encoding'];
  const message = /^multipart\//i.test(headers['content-type'] ?? '')
    ? 'The body must be the file itself, not a form'
    : encoding !== undefined && encoding.toLowerCase() !== 'identity'
      ? 'The gateway takes no compressed bodies: send the body as it is'
      : null;
  if (message !== null) throw new GatewayError({ code: 'UNSUPPORTED_MEDIA_TYPE', message });
}

/** The bytes of a body, also if the host's body parser has read it. A body that stops arriving is cut off. */
async function* bytesOf(
  env: HttpEnvironment,
  request: IncomingMessage,
  parsed: unknown,
): AsyncGenerator<Uint8Array> {
  const body = parsed ?? (request.readableEnded ? (request as { body?: unknown }).body : undefined);
  if (Buffer.isBuffer(body)) return yield body;
  if (typeof body === 'string') return yield Buffer.from(body);
  const announced = Number(request.headers['content-length'] ?? 0) > 0 || bringsBody(request);
  if (request.readableEnded && announced) throw alreadyRead();
  if (request.destroyed && !request.readableEnded) throw cutOff();
  let received = 0;
  const sender = { sent: () => received };
  let stall: Stall | null = new Stall(sender);
  const item: TickerItem = {
    tick: (now) => {
      if (stall?.isOver(now, env.limits.slowClientMs)) request.destroy();
    },
  };
  env.ticker.add(item);
  try {
    // The connection must outlive the loop, so that a refusal can be answered.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      received += (chunk as Buffer).byteLength;
      // The client is not to blame while the disk is slow.
      stall = null;
      yield chunk as Buffer;
      stall = new Stall(sender);
    }
  } catch (error) {
    throw isGatewayError(error) ? error : cutOff();
  } finally {
    env.ticker.delete(item);
  }
  if (!request.complete) throw cutOff();
}

/** Serves a file, or the requested part of it. @throws GatewayError */
export async function fileRoute(
  env: HttpEnvironment,
  request: IncomingMessage,
  response: ServerResponse,
  { caller, fileId, query }: { readonly caller: HttpCall; readonly fileId: string; readonly query: string },
): Promise<void> {
  const { record, open } = await env.operations.file(
    fileId,
    caller,
    new URLSearchParams(query).get('sessionId') ?? undefined,
  );
  const { size } = record;
  const headers = fileHeaders(record);
  const etag = headers.ETag!;
  nameAnswer(response);
  if (isFresh(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  let range: ByteRange | null;
  try {
    range = rangeOf(
      { range: request.headers.range, ifRange: request.headers['if-range'] as string },
      { size, etag },
    );
  } catch (error) {
    response.setHeader('Content-Range', `bytes */${size}`);
    throw error;
  }
  const length = range ? range.end - range.start + 1 : size;
  if (response.closed) return;
  // Open the file before the head is written, while an unreadable file can still be answered with an error.
  const opened = request.method === 'HEAD' || length === 0 ? null : await open(range ?? undefined);
  response.writeHead(range ? 206 : 200, {
    ...headers,
    'Content-Length': String(length),
    ...(range && { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` }),
  });
  try {
    if (opened) await write(env, response, opened.bytes);
  } finally {
    opened?.release();
  }
  response.end();
}

/** Writes as fast as the client reads. A client that reads nothing for too long is cut off. */
async function write(
  env: HttpEnvironment,
  response: ServerResponse,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const reader = { sent: () => sentBytes(response.socket) };
  let stall: Stall | null = null;
  const item: TickerItem = {
    tick: (now) => {
      if (stall?.isOver(now, env.limits.slowClientMs)) response.destroy();
    },
  };
  env.ticker.add(item);
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  response.once('close', leave);
  try {
    for await (const chunk of bytes) {
      if (response.closed) return;
      if (response.write(chunk)) continue;
      stall = new Stall(reader);
      await once(response, 'drain', { signal: gone.signal }).catch(() => {});
      stall = null;
    }
  } catch (error) {
    // The head has promised more bytes than will follow; only a cut connection tells the client.
    response.destroy();
    throw error;
  } finally {
    response.off('close', leave);
    env.ticker.delete(item);
  }
}

function alreadyRead(): GatewayError {
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message:
      'The body was read before the gateway; send it as application/octet-stream, or mount the gateway before the body parser',
  });
}

function cutOff(): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message: 'The body was cut off' });
}
