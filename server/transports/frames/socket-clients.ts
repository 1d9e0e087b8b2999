import type { EndReason } from '../../delivery/end-reason.js';

/** A client on a socket. */
export interface OpenSocket {
  /** Ends it in order: what is being answered is answered first. */
  end(reason: EndReason): void;
  /** Cuts it. */
  destroy(): void;
}

/** Every open socket, also those whose clients have not introduced themselves. */
export class SocketClients {
  readonly #open = new Set<OpenSocket>();
  readonly #unknown = new Set<OpenSocket>();
  readonly #handshakes: number;
  #emptied: (() => void) | null = null;

  /** @param handshakes Sockets that may be open at once without having said who they are. */
  constructor(handshakes: number) {
    this.#handshakes = handshakes;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether no more strangers are let in. */
  get full(): boolean {
    return this.#unknown.size >= this.#handshakes;
  }

  add(client: OpenSocket): void {
    this.#open.add(client);
    this.#unknown.add(client);
  }

  /** It is known who is at the other end. */
  identified(client: OpenSocket): void {
    this.#unknown.delete(client);
  }

  delete(client: OpenSocket): void {
    this.#open.delete(client);
    this.#unknown.delete(client);
    if (this.#open.size === 0) this.#emptied?.();
  }

  /** Ends every one once its requests are answered; what is still open after `graceMs` is cut. */
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
