import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** Whether a request asks for a WebSocket, not for HTTP/2 or another protocol that the gateway does not serve. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Serves a request as if it had asked for no upgrade, which a server may ignore (RFC 9110, section 7.8). Node takes such a request out of
 * its parser if a server listens to upgrades. This puts the head back without the upgrade, and hands the socket to the server as a new
 * one.
 */
export function serveWithoutUpgrade(
  server: Server,
  request: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
): void {
  socket.unshift(Buffer.concat([headWithoutUpgrade(request), head]));
  server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket);
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    switch (name.toLowerCase()) {
      case 'upgrade':
      case 'http2-settings':
        break;
      case 'connection': {
        const kept = value.split(',').filter((token) => !/^\s*(?:upgrade|http2-settings)\s*$/i.test(token));
        if (kept.length > 0) lines.push(`${name}: ${kept.join(',').trim()}`);
        break;
      }
      default:
        lines.push(`${name}: ${value}`);
    }
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
