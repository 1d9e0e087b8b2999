import { createServer, type Server, type Socket } from 'node:net';
import type { GatewayError } from '../../../shared/errors.js';
import { encodeLine } from '../../../shared/ndjson.js';
import { SocketFile } from '../../sockets/socket-file.js';
import type { FrameEnvironment } from '../frames/frame-environment.js';
import { UnixSocketWire } from './unix-socket-wire.js';

/** A Unix socket on which the gateway listens. */
export class UnixSocketDoor {
  readonly #file: SocketFile;
  readonly #server: Server;

  private constructor(file: SocketFile, server: Server) {
    this.#file = file;
    this.#server = server;
  }

  /**
   * Listens. Replaces the socket file of a dead gateway.
   *
   * @throws GatewayError `ADDRESS_IN_USE` for a live socket or another kind of file, which stay; `INVALID_REQUEST` for a path that is too
   * long, or in a directory that other users can enter.
   */
  static async open(env: FrameEnvironment, path: string): Promise<UnixSocketDoor> {
    const file = new SocketFile(path);
    const server = createServer((socket) => accept(env, socket));
    try {
      await file.bind(server);
    } catch (error) {
      server.close();
      throw error;
    }
    // A failure to accept one connection, for example without free file descriptors, must not end the process.
    server.on('error', (error) => env.report(error, 'accepting on the Unix socket failed'));
    return new UnixSocketDoor(file, server);
  }

  /** Whether other users can create files in the socket's directory. */
  get isShared(): boolean {
    return this.#file.isShared;
  }

  /** Stops listening and removes the file, unless another process has replaced it. `SocketClients` ends open connections. */
  close(): void {
    this.#file.remove();
    this.#server.close();
  }
}

function accept(env: FrameEnvironment, socket: Socket): void {
  try {
    env.clients.admit('');
  } catch (error) {
    socket.on('error', () => {});
    const told = encodeLine({ type: 'error', ...(error as GatewayError).toJSON() });
    socket.end(told, () => socket.destroy());
    return;
  }
  new UnixSocketWire(env, socket);
}
