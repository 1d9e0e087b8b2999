import { GatewayError } from '../../../shared/errors.js';
import { startDeadline } from '../../async/deadline.js';
import { addressKey } from '../../auth/address.js';
import type { EndReason } from '../../delivery/end-reason.js';

/** Places of clients that are not identified, which an address keeps where others need one. */
const SHARE = 32;

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
  /** The address of each client that is not identified yet, the oldest first. */
  readonly #unknown = new Map<OpenSocket, string>();
  readonly #handshakes: number;
  #emptied: (() => void) | null = null;

  /** @param handshakes Number of sockets that may be open at once without an identified client. */
  constructor(handshakes: number) {
    this.#handshakes = handshakes;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Makes sure that there is place for an unidentified client. Once all are taken, the oldest one of the address with the most gives way,
   * if that has more than its share and the new one's address has not.
   *
   * @param address Empty if there is none
   * @throws GatewayError `OVERLOADED`
   */
  admit(address: string): void {
    if (this.#unknown.size < this.#handshakes) return;
    const crowds = new Map<string, OpenSocket[]>();
    for (const [client, of] of this.#unknown) {
      const crowd = crowds.get(of);
      if (crowd) crowd.push(client);
      else crowds.set(of, [client]);
    }
    const most = [...crowds.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
    if (most.length <= SHARE || (crowds.get(addressKey(address))?.length ?? 0) >= SHARE) {
      const message = 'Too many sockets wait to be authenticated; try again later';
      throw new GatewayError({ code: 'OVERLOADED', message, retryAfterMs: 1000 });
    }
    this.#unknown.delete(most[0]!);
    most[0]!.destroy();
  }

  add(client: OpenSocket, address: string): void {
    this.#open.add(client);
    this.#unknown.set(client, addressKey(address));
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
      const cancel = startDeadline(graceMs, () => {
        for (const client of [...this.#open]) client.destroy();
        resolve();
      });
      this.#emptied = () => {
        cancel();
        resolve();
      };
    });
    this.#emptied = null;
  }
}
