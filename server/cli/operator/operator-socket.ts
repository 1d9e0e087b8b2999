import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Gateway } from 'agent-session-gateway';
import { GatewayError, isGatewayError } from 'agent-session-gateway/client';
import { type OperatorRequest, operate } from './operate.js';

/** Longest path of a socket that every system accepts. */
const MAX_PATH_BYTES = 100;

/** Path of the socket on which a database's gateway takes operators' requests. Only the owner has access to its folder, as to the database. */
export function operatorSocketOf(db: string): string {
  return `${db}.operator/socket`;
}

/**
 * Takes operators' requests for the gateway of a database. No other gateway has the database, so an existing socket belongs to a dead one.
 *
 * @returns a function that closes the socket
 * @throws GatewayError `INVALID_REQUEST` if the socket cannot be made
 */
export async function openOperatorSocket(gateway: Gateway<any, any, any>, db: string): Promise<() => void> {
  const path = operatorSocketOf(db);
  const folder = dirname(path);
  if (process.platform === 'win32') throw refused('there are no Unix sockets here');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw refused(`${path} is longer than ${MAX_PATH_BYTES} bytes`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = lstatSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
    throw refused(`${folder} must belong to this user alone (chmod 700)`);
  rmSync(path, { force: true });
  const server = createServer((request, response) => void serve(gateway, request, response));
  await listen(server, path);
  chmodSync(path, 0o600);
  return () => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function serve(
  gateway: Gateway<any, any, any>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const lines = operate(gateway, (await json(request)) as OperatorRequest);
    // Await the first line, so that an immediate error becomes the response.
    const first = await lines.next();
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    await pipeline(Readable.from(withFirst(first, lines)), response);
  } catch (error) {
    // Break the response off, to show its reader that lines are missing.
    if (response.headersSent) return void response.destroy();
    const known = isGatewayError(error)
      ? error
      : new GatewayError({ code: 'INTERNAL', message: String(error) });
    response.writeHead(known.status, { 'content-type': 'application/json' }).end(JSON.stringify(known));
  }
}

async function* withFirst(
  first: IteratorResult<string>,
  rest: AsyncIterable<string>,
): AsyncGenerator<string> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

function refused(why: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message: why });
}
