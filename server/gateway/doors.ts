import type { Socket } from 'node:net';
import { mostConnections, mostDescriptors } from '../runtime/descriptors.js';
import { heapProblem } from '../runtime/memory.js';
import { type ListeningServer, listen } from '../transports/http/listen.js';
import { UnixSocketDoor } from '../transports/unix-socket/unix-socket-door.js';
import type { Assembly } from './assembly.js';

/** The addresses on which a gateway listens. An embedded one has no port of its own. */
export interface StartedGateway {
  /** The `baseUrl` of clients, `basePath` included. */
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  /** The monitoring port, if it is configured. */
  readonly monitor?: string;
}

const SHARED_DIRECTORY =
  'socketPath: others can make files in its directory, and pose as the gateway while it does not run; use one with mode 700';

/** Connections below which a gateway says at its start that it may have few. */
const FEW = 512;
const FEW_CONNECTIONS =
  'the process may have few connections: raise its limit of open files (ulimit -n, LimitNOFILE)';

/** The listeners of a gateway: its port for HTTP and WebSockets, and its Unix socket. */
export class Doors {
  readonly #parts: Assembly;
  #http: ListeningServer | null = null;
  #unix: UnixSocketDoor | null = null;

  constructor(parts: Assembly) {
    this.#parts = parts;
  }

  /** @throws GatewayError `ADDRESS_IN_USE` or `INVALID_REQUEST` naming the option. Nothing listens then */
  async open(): Promise<StartedGateway> {
    const { config, frameEnvironment } = this.#parts;
    const { socketPath, embedded } = config;
    if (socketPath !== undefined) {
      this.#unix = await UnixSocketDoor.open(frameEnvironment, socketPath);
      if (this.#unix.isShared) config.logger.warn({ gateway: config.id }, SHARED_DIRECTORY);
    }
    try {
      return { ...(!embedded && (await this.#listen())), ...(socketPath !== undefined && { socketPath }) };
    } catch (error) {
      this.#unix?.close();
      throw error;
    }
  }

  async #listen(): Promise<StartedGateway> {
    const { config, http, webSocket } = this.#parts;
    const { host, port: wanted, basePath, limits } = config;
    const mount = { basePath };
    const most = mostConnections(mostDescriptors());
    const heap = heapProblem();
    if (heap !== null) config.logger.warn({ gateway: config.id }, heap);
    if (most < FEW) config.logger.warn({ gateway: config.id, most }, FEW_CONNECTIONS);
    this.#http = await listen(
      {
        ...{ host, port: wanted, mostConnections: most },
        ...{ handshakeMs: limits.handshakeMs, keepAliveMs: limits.keepAliveMs, backlog: limits.backlog },
      },
      {
        dropped: () => this.#dropped(most),
        admit: (socket) => this.#admit(socket),
        request: (request, response) =>
          http.handle(request, response, mount) || http.notFound(request, response, mount),
        upgrade: (request, socket, head) =>
          webSocket.handle(request, socket, head, mount) || webSocket.notFound(request, socket, mount),
      },
    );
    const { port } = this.#http;
    const name = host.includes(':') ? `[${host}]` : host;
    return { url: `http://${name}:${port}${basePath}`, host, port };
  }

  #dropped(most: number): void {
    const { state, connections, refusals } = this.#parts;
    state.droppedAt = performance.now();
    connections.tally.dropped += 1;
    refusals.warn('connections are cut: the process has as many as its file descriptors allow (ulimit -n)', {
      most,
    });
  }

  #admit(socket: Socket): boolean {
    const { connectionGate, trust, refusals, load } = this.#parts;
    if (load.cuts) {
      refusals.warn('connections are cut: the event loop is too late to serve new ones', {
        delayMs: Math.round(load.delayMs),
      });
      return false;
    }
    const address = socket.remoteAddress ?? '';
    // A trusted proxy carries many clients. Their requests in progress are counted instead.
    if (trust(address, 0)) return true;
    try {
      socket.once('close', connectionGate.enter(address));
      return true;
    } catch {
      refusals.crowded(address, 'limits.connectionsPerAddress');
      return false;
    }
  }

  /** Takes no more connections at the port, so that balancers which only see refused connections turn to other gateways. */
  async takeNoMore(): Promise<void> {
    await this.#http?.takeNoMore();
  }

  /** Ends the sockets, waits for open requests, and cuts the rest after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#unix?.close();
    await Promise.all([this.#parts.clients.end(graceMs), this.#http?.stop(graceMs)]);
  }
}
