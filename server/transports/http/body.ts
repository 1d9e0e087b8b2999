import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { ByteBuffer } from '../../../shared/byte-buffer.js';
import { GatewayError } from '../../../shared/errors.js';
import { LimitError } from '../../limit-error.js';
import { checkKeys, historyDepth, parseJson } from '../../schema/parse-json.js';
import { bringsBody } from './node-http.js';

/** The limits of request bodies. */
export interface BodyLimits {
  readonly bodyBytes: number;
  readonly conversationBytes: number;
  readonly jsonDepth: number;
}

/** The bounds of one body. */
export interface BodyBounds {
  readonly limit: 'bodyBytes' | 'conversationBytes';
  readonly maxBytes: number;
  readonly jsonDepth: number;
}

/** The bounds of a body. That of `import`, as of doors of other protocols, carries a whole conversation. */
export function boundsOf({ bodyBytes, conversationBytes, jsonDepth }: BodyLimits, to: string): BodyBounds {
  if (to !== 'import') return { limit: 'bodyBytes', maxBytes: bodyBytes, jsonDepth };
  const maxBytes = Math.max(bodyBytes, conversationBytes);
  return { limit: 'conversationBytes', maxBytes, jsonDepth: historyDepth(jsonDepth) };
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a JSON body. A body that the host's body parser has read is taken at once. A request without a body counts as an empty object.
 *
 * @param parsed The body that the host has parsed and handed over.
 * @param take Receives the body, in the async context of this call. Errors that it throws later go to `fail`.
 * @throws GatewayError `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, `INVALID_REQUEST`; faults that are found later go to `fail`
 */
export function readBody(
  request: IncomingMessage,
  bounds: BodyBounds,
  parsed: unknown,
  take: (body: unknown) => void,
  fail: (error: unknown) => void,
): void {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (length === 0 || (Number.isNaN(length) && !bringsBody(request))) return take({});
  if (!JSON_TYPE.test(headers['content-type'] ?? ''))
    throw new GatewayError({ code: 'UNSUPPORTED_MEDIA_TYPE' });
  const encoding = headers['content-encoding'];
  if (parsed !== undefined) return take(takeParsed(parsed, bounds));
  // A host can have parsed the body only once it has ended: Express 4 sets `{}` on requests that it left unread.
  if (request.readableEnded) return take(takeParsed((request as { body?: unknown }).body, bounds));
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'The gateway takes no compressed bodies: send the body as it is',
    });
  }
  if (length > bounds.maxBytes) throw tooLarge(bounds);
  // A client that has left already emits no further `close`.
  if (request.destroyed) throw cutOff();
  const taken = (bytes: Buffer): void => {
    try {
      take(parseJson(bytes.toString(), bounds.jsonDepth));
    } catch (error) {
      fail(error);
    }
  };
  readBytes(request, { length, bounds }, taken, fail);
}

function takeParsed(body: unknown, { jsonDepth }: BodyBounds): unknown {
  if (typeof body === 'string') return parseJson(body, jsonDepth);
  if (Buffer.isBuffer(body)) return parseJson(body.toString(), jsonDepth);
  if (body === undefined) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message:
        'The body was read before the gateway, and not parsed: mount the gateway before the body parser',
    });
  }
  checkKeys(body, jsonDepth);
  return body;
}

/**
 * Reads a body that nobody has begun to read. Nearly every body arrives with its head: Node then has all of it in the next tick, still in
 * the context of the request, and no listener is needed.
 */
function readBytes(
  request: IncomingMessage,
  { length, bounds }: { readonly length: number; readonly bounds: BodyBounds },
  take: (bytes: Buffer) => void,
  fail: (error: unknown) => void,
): void {
  process.nextTick(() => {
    if (request.destroyed) return fail(cutOff());
    if (request.readableLength !== length || request.readableFlowing !== null)
      return readPieces(request, bounds, take, fail);
    const bytes = request.read() as Buffer;
    // The stream ends only while it flows.
    request.resume();
    take(bytes);
  });
}

// This uses callbacks, because a promise would cost more than the reading.
function readPieces(
  request: IncomingMessage,
  bounds: BodyBounds,
  take: (bytes: Buffer) => void,
  fail: (error: unknown) => void,
): void {
  // The events arrive in the async context of the connection, but the host's own storages belong to that of the request.
  const context = new AsyncResource('GATEWAYBODY', { requireManualDestroy: true });
  const pieces = new ByteBuffer();
  const onData = (chunk: Buffer): void => {
    if (pieces.length + chunk.length > bounds.maxBytes) stopped(tooLarge(bounds));
    else pieces.add(chunk);
  };
  const onEnd = (): void => {
    stop();
    context.runInAsyncScope(take, undefined, bufferOf(pieces.take()));
  };
  const stopped = (error: GatewayError): void => {
    stop();
    context.runInAsyncScope(fail, undefined, error);
  };
  const onClose = (): void => stopped(cutOff());
  const stop = (): void => {
    request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
  };
  request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function cutOff(): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message: 'The body was cut off' });
}

function tooLarge({ limit, maxBytes }: BodyBounds): GatewayError {
  return new LimitError(`limits.${limit}`, {
    code: 'PAYLOAD_TOO_LARGE',
    message: `A body is limited to ${maxBytes} bytes`,
  });
}
