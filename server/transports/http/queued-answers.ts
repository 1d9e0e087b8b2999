import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';

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
