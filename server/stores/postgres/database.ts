import { StoreError } from '../append.js';
import {
  type Client,
  loadDriver,
  type Pool,
  type PostgresDriver,
  type PostgresRow,
  parsersOf,
} from './driver.js';
import { goesOn, isRefusal, storeFailed, unavailable, unknown } from './faults.js';
import type { PostgresSettings } from './options.js';
import { Pools } from './pools.js';

/** The silence of a server, in milliseconds, after which it counts as gone. */
const ANSWER_MS = 15_000;
const CONNECT_MS = 5000;
/** Connections for holding and writing logs, and for messages between gateways. None of these calls takes long, or waits for a reader. */
const WRITERS = 3;
/** Timeout of calls that may take any time. */
const FOR_EVER = 2 ** 31 - 1;

/** The connections to a database. Each call may use a different one. */
export class PostgresDatabase {
  /** The schema's name, quoted. */
  readonly schema: string;
  readonly #driver: PostgresDriver;
  readonly #options: PostgresSettings;
  readonly #pool: Pool;
  readonly #writes: Pool;
  readonly #lease: Pool;
  readonly pools: Pools;

  private constructor(driver: PostgresDriver, options: PostgresSettings) {
    this.#driver = driver;
    this.#options = options;
    this.schema = driver.escapeIdentifier(options.schema);
    this.#pool = this.#poolOf();
    this.#writes = this.#poolOf(WRITERS);
    this.#lease = this.#poolOf(1);
    this.pools = new Pools(this.#lease, [this.#pool, this.#writes]);
  }

  #poolOf(max?: number): Pool {
    const { url, pool } = this.#options;
    return (
      new this.#driver.Pool({
        ...this.#settings(url),
        connectionTimeoutMillis: CONNECT_MS,
        idleTimeoutMillis: 60_000,
        ...pool,
        ...(max !== undefined && { max }),
      })
        // A connection that ends also fails the call that uses it. The next call takes another connection.
        .on('error', () => {})
        .on('connect', (client) => client.on('error', () => {}))
    );
  }

  static async connect(options: PostgresSettings): Promise<PostgresDatabase> {
    return new PostgresDatabase(await loadDriver(), options);
  }

  #settings(url: string) {
    return {
      connectionString: url,
      types: parsersOf(this.#driver),
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: 'agent-session-gateway',
    };
  }

  /** A separate connection, for notifications. */
  listener(): Client {
    const { max: _, ...given } = this.#options.pool ?? {};
    const client = new this.#driver.Client({
      ...this.#settings(this.#options.listenUrl ?? this.#options.url),
      connectionTimeoutMillis: CONNECT_MS,
      ...given,
    });
    return client;
  }

  /** A name, quoted for a statement. */
  quoted(name: string): string {
    return this.#driver.escapeIdentifier(name);
  }

  /** Runs a statement; `$S` in it stands for the schema. @throws the error of the server or of the connection */
  async rows(text: string, values: readonly unknown[] = [], patient = false): Promise<PostgresRow[]> {
    const query = patient ? patiently(this.sql(text), values) : { text: this.sql(text), values: [...values] };
    const client = await this.pools.take(this.#pool);
    let failed: Error | undefined;
    try {
      return (await client.query(query)).rows as PostgresRow[];
    } catch (error) {
      failed = error as Error;
      throw error;
    } finally {
      // A failed connection may be half-open, or lead to a server that is no longer the primary.
      this.pools.give(this.#pool, client, failed);
    }
  }

  /** The rows of a statement that only reads. @throws StoreError `UNAVAILABLE` */
  async ask(text: string, ...values: unknown[]): Promise<PostgresRow[]> {
    try {
      return await this.rows(text, values);
    } catch (error) {
      throw unavailable(error);
    }
  }

  async first(text: string, ...values: unknown[]): Promise<PostgresRow | null> {
    return (await this.ask(text, ...values))[0] ?? null;
  }

  /** Calls a function of the schema that changes data, and returns one value. @throws StoreError as `change` */
  call<T>(name: string, ...values: unknown[]): Promise<T> {
    return this.#callOn(this.#pool, name, values);
  }

  /** The rows of a statement that changes data. @throws StoreError `UNAVAILABLE` if surely nothing was changed, else `UNKNOWN` */
  change(text: string, ...values: unknown[]): Promise<PostgresRow[]> {
    return this.#changeOn(this.#pool, this.sql(text), values);
  }

  /** The same as `change`, for holding and writing logs and for messages between gateways. It does not wait for readers. */
  write(text: string, ...values: unknown[]): Promise<PostgresRow[]> {
    return this.#changeOn(this.#writes, this.sql(text), values);
  }

  /** The same as `call`, for renewing this gateway's lease. It waits for no other call. @param given The arguments in SQL. @default the values */
  live<T>(name: string, values: unknown[], given?: string): Promise<T> {
    return this.#callOn(this.#lease, name, values, given);
  }

  async #callOn<T>(
    pool: Pool,
    name: string,
    values: unknown[],
    given = values.map((_, i) => `$${i + 1}`).join(),
  ): Promise<T> {
    const query = this.sql(`SELECT $S.${name}(${given}) AS answer`);
    return (await this.#changeOn(pool, query, values))[0]!.answer as T;
  }

  async #changeOn(pool: Pool, text: string, values: unknown[]): Promise<PostgresRow[]> {
    const client = await this.pools.take(pool).catch((error: unknown) => {
      throw new StoreError('UNAVAILABLE', 'PostgreSQL cannot be reached', { cause: error });
    });
    let failed: Error | undefined;
    try {
      return (await client.query({ text, values })).rows as PostgresRow[];
    } catch (error) {
      failed = error as Error;
      const isRefused = isRefusal(error) && (goesOn(error) || (await isAlive(client)));
      throw isRefused ? unavailable(error) : unknown(error);
    } finally {
      this.pools.give(pool, client, failed);
    }
  }

  sql(text: string): string {
    return inSchema(text, this.schema);
  }

  /** Runs work on one connection, in a transaction. */
  async transaction<T>(
    work: (run: (text: string, values?: unknown[]) => Promise<PostgresRow[]>) => Promise<T>,
  ) {
    const client = await this.pools.take(this.#pool);
    let failed: Error | undefined;
    try {
      const run = async (text: string, values: unknown[] = []): Promise<PostgresRow[]> =>
        (await client.query(patiently(this.sql(text), values))).rows as PostgresRow[];
      await run('BEGIN');
      const result: T = await work(run);
      await run('COMMIT');
      return result;
    } catch (error) {
      failed = error as Error;
      throw error;
    } finally {
      this.pools.give(this.#pool, client, failed);
    }
  }

  async close(): Promise<void> {
    await this.pools.close();
  }

  /** @throws GatewayError `STORE_FAILED` naming the setting that keeps the store from keeping its promises */
  async examine(): Promise<void> {
    const [found] = await this.rows(`SELECT current_setting('server_version_num')::int AS version,
      current_setting('server_version') AS name, pg_is_in_recovery() AS standby, current_setting('server_encoding') AS encoding,
      current_setting('default_transaction_isolation') AS isolation, current_setting('default_transaction_read_only') AS read_only,
      current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit`);
    const { version, name, standby, encoding, isolation, read_only, fsync, synchronous_commit } = found!;
    if (version < 130_000)
      throw storeFailed('version', `${name} is too old: postgresStore needs 13 or later`);
    if (standby || read_only === 'on')
      throw storeFailed(
        'unwritable',
        'is a read-only standby here: give postgresStore the url of the primary',
      );
    if (encoding !== 'UTF8')
      throw storeFailed('setting', `has this database in ${encoding}: make one with ENCODING 'UTF8'`);
    if (isolation !== 'read committed')
      throw storeFailed(
        'setting',
        `has default_transaction_isolation = ${isolation}: set it to read committed`,
      );
    if (this.#options.allowEphemeral) return;
    for (const [setting, value] of Object.entries({ fsync, synchronous_commit }))
      if (value === 'off')
        throw storeFailed(
          'setting',
          `has ${setting} = off, and forgets what it acknowledged when it crashes: set it to on, or give postgresStore allowEphemeral: true`,
        );
  }
}

const inSchema = (text: string, schema: string): string => text.replace(/\$S\b/g, () => schema);

/** Whether a connection still works. A server that shuts down uses codes that it also uses for refusals. */
async function isAlive(client: { query(text: string): Promise<unknown> }): Promise<boolean> {
  try {
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  }
}

/** A statement without a time limit. `pg` has this option for a query, but its types lack it. */
function patiently(text: string, values: readonly unknown[]): { text: string; values: unknown[] } {
  return Object.assign({ text, values: [...values] }, { query_timeout: FOR_EVER });
}
