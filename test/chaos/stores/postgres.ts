import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { PostgresServer } from '../../support/postgres-server.js';
import { ServerStore } from './server-store.js';
import type { StartStore } from './store-under-test.js';

/** Size of the server's own disk, in mebibytes. */
const DISK = 400;

/** Whether tests may mount a disk. */
const canMount = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'mounted-'));
  const run = (program: string, ...args: readonly string[]): boolean =>
    spawnSync(program, [...args, folder]).status === 0;
  const isMounted = run('mount', '-t', 'tmpfs', 'tmpfs');
  if (isMounted) run('umount');
  rmSync(folder, { recursive: true });
  return isMounted;
})();

class PostgresUnderTest extends ServerStore<PostgresServer> {
  constructor() {
    super({
      kind: 'postgres',
      first: () => PostgresServer.start({}, canMount ? DISK : undefined),
      again: (server) => server.run(),
      // All of its processes at once, without a checkpoint: it recovers from its log when it starts.
      end: (server) => server.stop('SIGQUIT'),
      remove: (server) => server.remove(),
    });
  }

  /** Absent where tests may mount no disk. */
  readonly fill = canMount
    ? async () => {
        const makeRoom = this.server!.fill();
        return async () => makeRoom();
      }
    : undefined;

  async exhaust(spare = 0): Promise<() => Promise<void>> {
    const connectionString = this.server!.url.replace(/postgres$/, 'template1');
    const hogs: pg.Client[] = [];
    const connect = async (): Promise<pg.Client | null> => {
      const client = new pg.Client({ connectionString });
      client.on('error', () => {});
      return client.connect().then(
        () => client,
        () => null,
      );
    };
    const operator = (await connect())!;
    // Nobody comes in while the places are taken.
    await operator.query('ALTER DATABASE postgres ALLOW_CONNECTIONS false');
    await operator.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres'");
    const others = "SELECT FROM pg_stat_activity WHERE datname = 'postgres'";
    while ((await operator.query(others)).rowCount! > 0) await delay(20);
    for (let hog = await connect(); hog; hog = await connect()) hogs.push(hog);
    await Promise.all(hogs.splice(0, spare).map((hog) => hog.end()));
    await operator.query('ALTER DATABASE postgres ALLOW_CONNECTIONS true');
    return async () => {
      await Promise.all([operator, ...hogs].map((client) => client.end()));
    };
  }
}

/** A PostgreSQL as it is installed: it forgets nothing that it has answered. */
export const postgresUnderTest: StartStore = async () => new PostgresUnderTest();
