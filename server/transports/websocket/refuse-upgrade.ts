import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GatewayError } from '../../../shared/errors.js';
import { newRequestId } from '../../ids.js';

/** Answers an upgrade with an error instead of a WebSocket. */
export function refuseUpgrade(socket: Duplex, error: GatewayError, requestId = newRequestId()): void {
  const body = JSON.stringify({ error: { ...error.toJSON(), requestId } });
  const { status, retryAfterMs } = error;
  const retry =
    retryAfterMs === undefined ? [] : [`Retry-After: ${Math.max(1, Math.ceil(retryAfterMs / 1000))}`];
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    'Cache-Control: no-store',
    'Referrer-Policy: no-referrer',
    `X-Request-Id: ${requestId}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...retry,
  ];
  // Without a listener the reset by a client that left would end the process.
  socket.on('error', () => {});
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
