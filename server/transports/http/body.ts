import type { IncomingMessage } from 'node:http';
import { ByteBuffer } from '../../../shared/byte-buffer.js';
import { GatewayError } from '../../../shared/errors.js';
import { checkKeys, parseJson } from '../json.js';
import { bringsBody } from './http2.js';

/** Bounds of a request body. */
export interface BodyLimits {
  readonly bodyBytes: number;
  readonly jsonDepth: number;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a JSON body, or takes the one that a body parser before us has read. A request without a body is an empty object.
 *
 * @param parsed What the host has parsed and handed over.
 * @throws GatewayError `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, `INVALID_REQUEST`
 */
export async function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  parsed?: unknown,
): Promise<unknown> {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (length === 0 || (Number.isNaN(length) && !bringsBody(request))) return {};
  if (!JSON_TYPE.test(headers['content-type'] ?? ''))
    throw new GatewayError({ code: 'UNSUPPORTED_MEDIA_TYPE' });
  const encoding = headers['content-encoding'];
  if (parsed !== undefined) return takeParsed(parsed, limits);
  // Before the end nobody can have parsed it: Express 4 sets `{}` on requests it left unread.
  if (request.readableEnded) return takeParsed((request as { body?: unknown }).body, limits);
  if (encoding !== undefined && encoding !== 'identity') {
    throw new GatewayError({ code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Compressed bodies are not accepted' });
  }
  if (length > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
  return parseJson(await readText(request, limits.bodyBytes), limits.jsonDepth);
}

function takeParsed(body: unknown, limits: BodyLimits): unknown {
  if (typeof body === 'string') return parseJson(body, limits.jsonDepth);
  if (Buffer.isBuffer(body)) return parseJson(body.toString(), limits.jsonDepth);
  if (body === undefined) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: 'The body was read before the gateway and not parsed',
    });
  }
  checkKeys(body, limits.jsonDepth);
  return body;
}

function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = new ByteBuffer();
    const finish = (settle: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      if (body.length + chunk.length > maxBytes) finish(() => reject(tooLarge(maxBytes)));
      else body.add(chunk);
    };
    const onEnd = (): void => finish(() => resolve(textOf(body.take())));
    const onClose = (): void =>
      finish(() => reject(new GatewayError({ code: 'INVALID_REQUEST', message: 'The body was cut off' })));
    // Who has left already is not going to say so again.
    if (request.destroyed) onClose();
    else request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError({ code: 'PAYLOAD_TOO_LARGE', message: `A body is limited to ${maxBytes} bytes` });
}
