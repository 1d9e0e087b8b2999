import type { EndReason } from '../../delivery/end-reason.js';

/** A client on a socket. */
export interface OpenSocket {
  /** Ends the connection in order, once the requests under way are answered. */
  end(reason: EndReason): void;
  /** Cuts the socket. */
  destroy(): void;
}

/** Every open socket, also those of clients that are not identified yet. */
export class SocketClients {
  readonly #open = new Set<OpenSocket>();
  readonly #unknown = new Set<OpenSocket>();
  readonly #handshakes: number;
  #emptied: (() => void) | null = null;

  /** @param handshakes Number of sockets that may be open at once without an identified client. */
  constructor(handshakes: number) {
    this.#handshakes = handshakes;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether no more unidentified clients are let in. */
  get full(): boolean {
    return this.#unknown.size >= this.#handshakes;
  }

  add(client: OpenSocket): void {
    this.#open.add(client);
    this.#unknown.add(client);
  }

  /** Notes that the client of a socket is identified. */
  identified(client: OpenSocket): void {
    this.#unknown.delete(client);
  }

  delete(client: OpenSocket): void {
    this.#open.delete(client);
    this.#unknown.delete(client);
    if (this.#open.size === 0) this.#emptied?.();
  }

  /** Ends every socket once its requests are answered. Sockets that are still open after `graceMs` are cut. */
  async end(graceMs: number): Promise<void> {
    for (const client of [...this.#open]) client.end('drain');
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const client of [...this.#open]) client.destroy();
        resolve();
      }, graceMs);
      this.#emptied = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#emptied = null;
  }
}
