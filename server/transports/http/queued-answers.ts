import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** The answers of a connection that wait for those before them. */
const queued = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Has an answer that waits behind others of its connection hear of that connection's end, as any other does. Node tells only the one whose
 * turn it is, and what the others hold would be held for good.
 */
export function hearOfEnd(response: ServerResponse): void {
  if (response.socket !== null) return;
  const { socket: connection } = response.req;
  if (connection.destroyed) return end(response);
  const waiting = queued.get(connection) ?? follow(connection);
  waiting.add(response);
  response.once('socket', () => waiting.delete(response));
}

/** One listener for all of them: there may be many. */
function follow(connection: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  queued.set(connection, waiting);
  connection.once('close', () => waiting.forEach(end));
  return waiting;
}

/** Node closes an answer with its connection: it is given one that is closed. */
function end(response: ServerResponse): void {
  response.assignSocket(new Socket().destroy());
}
