import { connect, createServer, type Socket } from 'node:net';
import { closeLater } from './resources.js';
import { socketDirectory } from './socket-directory.js';

/** Passes connections to a Unix socket through, and cuts them when told. */
export class CuttingSocket {
  readonly path: string;
  /** Byte counts at which the answers of the next connections are cut; connections beyond the list are not. */
  readonly cuts: number[] = [];
  cut = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(path: string) {
    this.path = path;
  }

  /** Starts it in front of a gateway's socket; it is closed after the test. */
  static async start(target: string): Promise<CuttingSocket> {
    const proxy = new CuttingSocket(`${socketDirectory()}/proxy.sock`);
    const server = createServer((client) => proxy.#pass(client, target));
    await new Promise<void>((resolve) => server.listen(proxy.path, resolve));
    closeLater(server, () => {
      proxy.cutAll();
      server.close();
    });
    return proxy;
  }

  #pass(client: Socket, target: string): void {
    const server = connect(target);
    let left = this.cuts.shift() ?? Number.POSITIVE_INFINITY;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.on('data', (chunk: Buffer) => {
      if (client.writableEnded) return;
      client.write(chunk.subarray(0, Math.min(left, chunk.length)));
      left -= chunk.length;
      if (left > 0) return;
      this.cut += 1;
      client.end();
      server.destroy();
    });
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
