import { join } from 'node:path';
import WebSocket from 'ws';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';

/** Asks for a WebSocket and returns the status of the answer: 101 when it was granted. */
export function upgrade(url: string, headers: Record<string, string> = {}): Promise<number> {
  const webSocket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers });
  closeLater(webSocket, (it) => it.terminate());
  return new Promise((resolve, reject) => {
    webSocket.once('open', () => resolve(101));
    webSocket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    webSocket.once('error', (error) => reject(error));
  });
}

/** A path for a Unix socket in a directory of its own that nobody else enters. */
export const socketPath = (): string => join(socketDirectory(), 's.sock');
