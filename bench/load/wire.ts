import { TOKEN } from '../peers/application.js';

/** A text frame as a client sends it; the mask is of zeros, so the text stays as it is. */
export function wsFrame(text: string): string {
  const { length } = text;
  const head = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 255];
  return `${String.fromCharCode(0x81, ...head)}\0\0\0\0${text}`;
}

export const wsUpgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

export const httpGet = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;

/** @param headers Lines of further headers. */
export function httpPost(path: string, body: object, headers = ''): string {
  const text = JSON.stringify(body);
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${TOKEN}\r\n${headers}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}
