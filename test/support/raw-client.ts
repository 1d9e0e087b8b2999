import { connect, type Socket } from 'node:net';
import { TOKEN } from './gateway.js';
import { head } from './raw-http.js';
import { closeLater } from './resources.js';

/** A connection that writes what a test says and reads only when it is told to. */
export interface RawClient {
  readonly socket: Socket;
  /** Resolves when the other side has ended or cut it. */
  readonly closed: Promise<void>;
  /** What was read so far. */
  text(): string;
  /** Reads until what was read matches; rejects when the connection is closed first. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Connects to a gateway's port; closed after the test. */
export function rawClient(url: string): RawClient {
  const { hostname, port } = new URL(url);
  const socket = closeLater(connect(Number(port), hostname), (it) => it.destroy());
  let text = '';
  let isClosed = false;
  const waiters = new Set<() => void>();
  const wake = (): void => {
    for (const waiter of [...waiters]) waiter();
  };
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    wake();
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      wake();
      resolve();
    });
  });
  return {
    socket,
    closed,
    text: () => text,
    async until(pattern) {
      for (;;) {
        const match = pattern.exec(text);
        if (match) return match;
        if (isClosed) throw new Error(`closed after ${text.slice(-500)}`);
        await new Promise<void>((resolve) => {
          const waiter = (): void => {
            waiters.delete(waiter);
            resolve();
          };
          waiters.add(waiter);
        });
      }
    },
  };
}

/** The bytes of an authorized request that keeps its connection. */
export function requestText(line: string, body?: unknown, headers: Record<string, string> = {}): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const fields: Record<string, string> = {
    Host: '127.0.0.1',
    Connection: 'keep-alive',
    Authorization: `Bearer ${TOKEN}`,
    ...(text !== '' && {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(text)),
    }),
    ...headers,
  };
  return head(line, fields) + text;
}

/** Sends a request and reads nothing of its answer. */
export function askUnread(url: string, line: string, body?: unknown): RawClient {
  const client = rawClient(url);
  client.socket.pause();
  client.socket.write(requestText(line, body));
  return client;
}
