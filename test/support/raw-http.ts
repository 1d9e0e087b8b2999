import { connect, type Socket } from 'node:net';
import { closeLater } from './resources.js';

/** The headers by which a client asks for a WebSocket. */
export const WEBSOCKET_UPGRADE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** An answer as it came over the socket. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** Writes bytes to the server of a URL and reads what comes back until the connection is closed. */
export function rawRequest(url: string, ...parts: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket: Socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(part);
    });
    closeLater(socket, (it) => it.destroy());
    const done = (): void => {
      const [headers = '', ...body] = text.split('\r\n\r\n');
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(headers)?.[1] ?? 0);
      if (status === 0) reject(new Error(`no answer: ${text}`));
      else resolve({ status, headers, body: body.join('\r\n\r\n') });
    };
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.once('error', () => {});
    socket.once('close', done);
  });
}

/** The head of a request that asks for the connection to be closed. */
export function head(line: string, headers: Readonly<Record<string, string>>): string {
  const fields = Object.entries({ Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${line} HTTP/1.1\r\n${fields.join('')}\r\n`;
}
