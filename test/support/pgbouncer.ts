import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.js';
import { owner, type PostgresServer } from './postgres-server.js';
import { closeLater } from './resources.js';
import { tempDir } from './temp-dir.js';
import { until } from './until.js';

const PROGRAM = '/usr/sbin/pgbouncer';

/** A pooler that hands connections around between transactions. */
export class PgBouncer {
  readonly url: string;

  private constructor(url: string) {
    this.url = url;
  }

  /** Starts one in front of a server; it is ended after the test. Null where it is not installed. */
  static async start(server: PostgresServer): Promise<PgBouncer | null> {
    if (!existsSync(PROGRAM)) return null;
    const dir = tempDir();
    chmodSync(dir, 0o755);
    const port = await freePort();
    const ini = join(dir, 'pgbouncer.ini');
    writeFileSync(
      ini,
      [
        '[databases]',
        `postgres = user=postgres dbname=postgres host=127.0.0.1 port=${server.port}`,
        '[pgbouncer]',
        ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
        ...['pool_mode = transaction', 'default_pool_size = 3', ''],
      ].join('\n'),
    );
    const child = spawn(PROGRAM, [ini], { ...owner(), cwd: '/', stdio: 'ignore' });
    const ended = once(child, 'exit');
    closeLater(child, () => {
      child.kill('SIGINT');
      return ended;
    });
    const bouncer = new PgBouncer(server.urlAt(port));
    await until(() => bouncer.#answers());
    return bouncer;
  }

  async #answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('SELECT 1');
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }
}
