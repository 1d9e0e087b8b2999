import type { Socket } from 'node:net';

/** Passes connections through and cuts each after so many bytes of its answer. */
export class Cutter {
  /** Byte counts at which the next connections are cut; connections beyond the list are not. */
  readonly cuts: number[] = [];
  /** How many connections were cut. */
  cut = 0;
  readonly #sockets = new Set<Socket>();

  protected pass(client: Socket, server: Socket): void {
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
