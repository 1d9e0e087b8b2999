import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresDatabase } from './database.js';
import type { Client } from './driver.js';
import { isShortage } from './faults.js';

/** The wait between attempts to connect, in milliseconds. */
const AGAIN_MS = { least: 50, most: 1000 };

export interface ListenerOptions {
  readonly database: PostgresDatabase;
  readonly channel: string;
  /** The time that the server waits for this process to take its data, in milliseconds. */
  readonly untakenMs: number;
  heard(payload: string): void;
  /** The connection is back, and notifications may have been missed. */
  again(): void;
}

/** Listens for notifications over a connection of its own, which is made again whenever it breaks. */
export class Listener {
  readonly #options: ListenerOptions;
  #client: Client | null = null;
  #closed = false;
  /** The time of the last notification; monotonic milliseconds. */
  heardAt = 0;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Resolves once it listens. @throws the error that keeps it from connecting */
  async open(): Promise<void> {
    const { database, channel, untakenMs, heard } = this.#options;
    if (!database.pools.mayOpen) throw new Error('The lease has no connection');
    const client = database.listener();
    try {
      client.on('error', () => this.#broken(client));
      client.on('end', () => this.#broken(client));
      client.on('notification', ({ payload = '' }) => {
        this.heardAt = performance.now();
        heard(payload);
      });
      await client.connect();
      // The server keeps notifications until every listener has read them. A process that stands still would fill its queue until nobody
      // can notify any more. Servers that do not know this setting go without it.
      await client.query(`SET tcp_user_timeout = ${untakenMs}`).catch(() => {});
      await client.query(`LISTEN ${database.quoted(channel)}`);
    } catch (error) {
      if (isShortage(error)) database.pools.beShort();
      void client.end().catch(() => {});
      throw error;
    }
    this.heardAt = performance.now();
    this.#client = client;
    if (this.#closed) await this.close();
  }

  #broken(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    void client.end().catch(() => {});
    if (!this.#closed) void this.#reopen();
  }

  async #reopen(): Promise<void> {
    for (let ms = AGAIN_MS.least; !this.#closed; ms = Math.min(AGAIN_MS.most, 2 * ms)) {
      try {
        await this.open();
        return this.#options.again();
      } catch {
        await sleep(ms * (0.5 + Math.random()), undefined, { ref: false });
      }
    }
  }

  /** Replaces the connection after so many milliseconds of silence, since it may be broken without notice. */
  suspect(ms: number): void {
    if (this.#client && performance.now() - this.heardAt > ms) this.#broken(this.#client);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }
}
