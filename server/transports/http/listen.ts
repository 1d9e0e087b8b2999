import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../../shared/errors.js';

/** How a standalone gateway listens. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handshakeMs: number;
}

/** Where it listens. */
export interface Listening {
  readonly server: Server;
  readonly port: number;
}

/** @throws GatewayError `ADDRESS_IN_USE` naming the port and the option */
export function listen(
  options: ListenOptions,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const { host, port, handshakeMs } = options;
  const bounded = Math.min(handshakeMs, 0x7fffffff);
  const server = createServer(
    // Node looks for slow requests every 30 s by default, too late for a bound of 10.
    {
      headersTimeout: bounded,
      requestTimeout: Math.min(bounded * 3, 0x7fffffff),
      connectionsCheckingInterval: Math.min(bounded, 5000),
    },
    serve,
  );
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const message = `Port ${port} on ${host} is in use; choose another with the port option (0 picks a free one)`;
      reject(
        new GatewayError({
          code: 'ADDRESS_IN_USE',
          message,
          details: [{ path: 'port', message: 'in use' }],
          cause: error,
        }),
      );
    });
    server.listen(port, host, () => resolve({ server, port: (server.address() as AddressInfo).port }));
  });
}

/** Stops listening and waits for the open requests; what is still open after `graceMs` is cut. */
export function stopListening(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
