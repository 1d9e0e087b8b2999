import type { Pool, PoolClient } from './driver.js';
import { isShortage } from './faults.js';

/** Time after a refusal for want of room in which this gateway makes do with few connections, in milliseconds. */
const SHORT_MS = 10_000;
/** Most connections of a pool meanwhile. */
const FEW = 1;

/**
 * The pools of a gateway. Each gateway gives back what it can do without while the server has no room for more connections, so that others
 * have some too, and opens none before it has the one that renews its lease: others would take it for dead.
 */
export class Pools {
  readonly #lease: Pool;
  /** The others, with the number of connections that each may have. */
  readonly #others: ReadonlyMap<Pool, number>;
  #short: NodeJS.Timeout | undefined;

  constructor(lease: Pool, others: readonly Pool[]) {
    this.#lease = lease;
    this.#others = new Map(others.map((pool) => [pool, pool.options.max]));
  }

  /** Whether another connection than that of the lease may be opened now. */
  get mayOpen(): boolean {
    return this.#short === undefined || this.#lease.totalCount > 0;
  }

  /** A connection of a pool, to be given back. @throws the error of the server or of the connection */
  async take(pool: Pool): Promise<PoolClient> {
    if (pool !== this.#lease && pool.totalCount === 0 && !this.mayOpen)
      throw new Error('The server has too few connections, and this gateway has none for its lease');
    try {
      return await pool.connect();
    } catch (error) {
      if (isShortage(error)) this.beShort();
      throw error;
    }
  }

  /** Gives a connection back. None is kept for later where others wait for one, but that of the lease. @param failed Set if it may be broken */
  give(pool: Pool, client: PoolClient, failed?: Error): void {
    client.release(failed ?? (pool !== this.#lease && this.#short !== undefined));
  }

  /** Makes do with few connections for a while. */
  beShort(): void {
    clearTimeout(this.#short);
    for (const pool of this.#others.keys()) {
      pool.options.max = FEW;
      for (let idle = pool.idleCount; idle > 0; idle--)
        pool.connect().then(
          (client) => client.release(true),
          () => {},
        );
    }
    this.#short = setTimeout(() => this.#beAsEver(), SHORT_MS).unref();
  }

  #beAsEver(): void {
    this.#short = undefined;
    for (const [pool, most] of this.#others) pool.options.max = most;
  }

  async close(): Promise<void> {
    clearTimeout(this.#short);
    await Promise.all([this.#lease, ...this.#others.keys()].map((pool) => pool.end()));
  }
}
