import { createServer, type Server, type Socket } from 'node:net';
import { GatewayError } from '../../../shared/errors.js';
import { encodeLine } from '../../../shared/ndjson.js';
import { SocketFile } from '../../sockets/socket-file.js';
import type { FrameEnvironment } from '../frames/frame-environment.js';
import { UnixSocketWire } from './unix-socket-wire.js';

/** A Unix socket that is listened on. */
export class UnixSocketDoor {
  readonly #file: SocketFile;
  readonly #server: Server;

  private constructor(file: SocketFile, server: Server) {
    this.#file = file;
    this.#server = server;
  }

  /**
   * Listens. A socket that a dead gateway left there is replaced.
   *
   * @throws GatewayError `ADDRESS_IN_USE` for a live socket or another kind of file, which are left alone; `INVALID_REQUEST` for a
   * path that is too long, or in a directory that other users can enter.
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
    // Failing to accept one connection, for want of descriptors, is no reason to end.
    server.on('error', (error) => env.report(error, 'accepting on the Unix socket failed'));
    return new UnixSocketDoor(file, server);
  }

  /** Whether the socket is in a directory that other users can make files in. */
  get isShared(): boolean {
    return this.#file.isShared;
  }

  /** Stops listening and removes the file, unless it is another's by now. Open connections are ended elsewhere. */
  close(): void {
    this.#file.remove();
    this.#server.close();
  }
}

function accept(env: FrameEnvironment, socket: Socket): void {
  if (!env.clients.full) return void new UnixSocketWire(env, socket);
  const error = new GatewayError({
    code: 'OVERLOADED',
    message: 'Too many sockets have not said who they are',
    retryAfterMs: 1000,
  });
  socket.on('error', () => {});
  socket.end(encodeLine({ type: 'error', ...error.toJSON() }), () => socket.destroy());
}
