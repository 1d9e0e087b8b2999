import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../../shared/errors.js';
import { startDeadline } from '../../async/deadline.js';
import { CarriedRequests } from './carried.js';
import { asksForWebSocket, serveWithoutUpgrade } from './ignore-upgrade.js';

/** How a standalone gateway listens. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handshakeMs: number;
  readonly keepAliveMs: number;
  /** Connections that wait to be accepted. */
  readonly backlog: number;
  /** Connections beyond which others are cut; Infinity for no bound. */
  readonly mostConnections: number;
}

/** Handlers of a server's connections, requests and upgrades. */
export interface ServerHandlers {
  /** Whether a connection is served. The server cuts it if not. */
  admit(socket: Socket): boolean;
  /** Called when a connection was cut because there are as many as there may be. */
  dropped(): void;
  request(request: IncomingMessage, response: ServerResponse): void;
  /** Takes an upgrade to a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** A server that listens. */
export interface ListeningServer {
  readonly port: number;
  /** Takes no more connections, and leaves those that are open as they are. Resolves once those just made have brought their requests. */
  takeNoMore(): Promise<void>;
  /** Stops listening and waits for the open requests. Connections that are still open after `graceMs` are cut. */
  stop(graceMs: number): Promise<void>;
}

/** @throws GatewayError `ADDRESS_IN_USE` naming the port and the option */
export function listen(options: ListenOptions, handlers: ServerHandlers): Promise<ListeningServer> {
  const { host, port, handshakeMs, keepAliveMs, backlog, mostConnections } = options;
  const bounded = Math.min(handshakeMs, 0x7fffffff);
  const carried = new CarriedRequests(Math.min(bounded * 3, 0x7fffffff), Math.min(bounded, 5000));
  /** The open connections, with the time since which they are there, in monotonic milliseconds. */
  const made = new Map<Socket, number>();
  const server = createServer(
    // Node checks for slow requests every 30 s by default, which is too late for a bound of 10 s.
    {
      headersTimeout: bounded,
      // `CarriedRequests` watches bodies.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(bounded, 5000),
      // For Node 0 means no bound.
      keepAliveTimeout: keepAliveMs > 0x7fffffff ? 0 : keepAliveMs,
    },
    // Use one listener, because Node copies a list of several for each request.
    (request, response) => {
      carried.add(request, response);
      handlers.request(request, response);
    },
  );
  if (Number.isFinite(mostConnections)) server.maxConnections = mostConnections;
  server.on('drop', () => handlers.dropped());
  server.on('connection', (socket) => {
    if (!handlers.admit(socket)) return void socket.destroy();
    made.set(socket, performance.now());
    socket.once('close', () => made.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (asksForWebSocket(request)) handlers.upgrade(request, socket, head);
    else serveWithoutUpgrade(server, request, { socket, head });
  });
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
    server.listen(port, host, backlog, () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        // Node's own HTTP servers close idle connections at once, on which a request may be under way.
        async takeNoMore() {
          await taken();
          NetServer.prototype.close.call(server);
          const now = performance.now();
          const young = [...made].flatMap(([socket, since]) => (since > now - FRESH_MS ? socket : []));
          const isAwaited = (socket: Socket): boolean => socket.bytesRead === 0 && !socket.destroyed;
          while (performance.now() < now + FRESH_MS && young.some(isAwaited)) await delay(LOOK_MS);
        },
        stop: async (graceMs) => {
          await taken();
          carried.stop();
          return stopListening(server, carried, graceMs);
        },
      }),
    );
  });
}

/** Longest time for a proxy to send a request over a connection that it has made, and between two looks whether it has; in milliseconds. */
const [FRESH_MS, LOOK_MS] = [500, 10];
/** Turns of the event loop after which a connection that was there before them is accepted, and its first request is read. */
const TURNS = 3;

/**
 * Resolves once the connections are taken that the system has made already. A socket that is closed before resets them, and a proxy that has
 * sent a request over one cannot send it elsewhere.
 */
async function taken(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
}

function stopListening(server: Server, carried: CarriedRequests, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = startDeadline(graceMs, () => server.closeAllConnections());
    server.close(() => {
      cancel();
      resolve();
    });
    // Browsers keep spare connections that never carried a request, and Node does not count those as idle.
    carried.whenNone(() => server.closeAllConnections());
  });
}
