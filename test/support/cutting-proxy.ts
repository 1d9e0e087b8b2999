import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { closeLater } from './resources.js';

/** Passes TCP connections through and cuts each after so many bytes of its answer. */
export class CuttingProxy {
  readonly url: string;
  /** Byte counts at which the next connections are cut; connections beyond the list are not. */
  readonly cuts: number[] = [];
  /** How many connections were cut. */
  cut = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Starts a proxy in front of a gateway; it is closed after the test. */
  static async start(target: string): Promise<CuttingProxy> {
    let proxy: CuttingProxy;
    const server = createServer((client) => proxy.#pass(client, Number(new URL(target).port)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy = new CuttingProxy((server.address() as AddressInfo).port);
    closeLater(server, () => {
      for (const socket of proxy.#sockets) socket.destroy();
      server.close();
    });
    return proxy;
  }

  #pass(client: Socket, port: number): void {
    const server = connect(port, '127.0.0.1');
    let left = this.cuts.shift() ?? Number.POSITIVE_INFINITY;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
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
      // What was passed on still arrives; then the connection is gone for both.
      client.end();
      server.destroy();
    });
  }

  /** Cuts everything that is open. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
