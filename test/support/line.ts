import { connect, createServer, type Socket } from 'node:net';
import { portOf } from './host-server.js';

/** A TCP line to a server that can be cut, for a moment or until it is mended. */
export class Line {
  readonly port: number;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  /** Connections that were taken. */
  opened = 0;
  /** Bytes of answers after which each connection is cut; none without. */
  cutAfter: (() => number) | undefined;
  /** Connections that were cut in the middle of an answer. */
  cuts = 0;

  private constructor(port: number) {
    this.port = port;
  }

  /** A line to a port of this machine; it is closed after the test. */
  static async to(port: number): Promise<Line> {
    let line: Line;
    const server = createServer((client) => line.#pass(client, port));
    line = new Line(await portOf(server));
    return line;
  }

  #pass(client: Socket, port: number): void {
    if (this.#isCut) {
      client.destroy();
      return;
    }
    this.opened += 1;
    const server = connect(port, '127.0.0.1');
    let left = this.cutAfter?.() ?? Number.POSITIVE_INFINITY;
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true).on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on('data', (chunk: Buffer) => server.write(chunk));
    server.on('data', (chunk: Buffer) => {
      if (chunk.length < left) {
        left -= chunk.length;
        client.write(chunk);
        return;
      }
      this.cuts += 1;
      client.write(chunk.subarray(0, left), end);
    });
  }

  /** Every connection breaks; new ones are taken. */
  blink(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Every connection breaks, and none is taken until it is mended. */
  cut(): void {
    this.#isCut = true;
    this.blink();
  }

  mend(): void {
    this.#isCut = false;
  }
}
