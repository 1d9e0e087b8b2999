import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { describeWith } from './describe-with.js';
import { freePort } from './free-port.js';
import { ROOT } from './program.js';
import { closeAtLast } from './resources.js';
import { until } from './until.js';

/** Where Debian has its versions. */
const DEBIAN = '/usr/lib/postgresql';

/** The directory of PostgreSQL's programs, or null where it is not installed. `POSTGRES_BIN` names another one. */
const BIN: string | null = (() => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const candidates = [process.env.POSTGRES_BIN, ...versions.map((version) => join(DEBIAN, version, 'bin'))];
  return candidates.find((path) => path && existsSync(join(path, 'initdb'))) ?? null;
})();

/** Whether there is a PostgreSQL on this machine that tests can start. */
export const hasPostgres = BIN !== null;

/** PostgreSQL refuses to be run by root. */
export const owner = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
};

const INITDB = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];

const copy = (from: string, to: string): void => void execFileSync('cp', ['-a', from, to]);

/** Writes an empty database: a copy of one that is made once for each version, because to make it takes several times as long. */
function writeData(dir: string): void {
  const data = join(dir, 'data');
  const version = execFileSync(join(BIN!, 'postgres'), ['--version'], { encoding: 'utf8' });
  const template = join(ROOT, '.cache/postgres', version.trim().replaceAll(/[^\w.]+/g, '-'));
  if (existsSync(template)) return copy(template, data);
  execFileSync(join(BIN!, 'initdb'), ['-D', data, ...INITDB], { ...owner(), cwd: dir, stdio: 'ignore' });
  mkdirSync(dirname(template), { recursive: true });
  const written = `${template}-${process.pid}`;
  copy(data, written);
  try {
    renameSync(written, template);
  } catch {
    // Another process was first.
    rmSync(written, { recursive: true, force: true });
  }
}

/** A server of its own, with its data in a directory that is removed with it. */
export class PostgresServer {
  readonly port: number;
  readonly #dir: string;
  readonly #settings: Readonly<Record<string, string>>;
  #process: ChildProcess | null = null;
  #isMounted = false;

  private constructor(port: number, dir: string, settings: Readonly<Record<string, string>>) {
    this.port = port;
    this.#dir = dir;
    this.#settings = settings;
  }

  /**
   * @param settings Of `postgresql.conf`.
   * @param mebibytes The size of a disk of its own, which takes the right to mount one. @default the machine's disk
   */
  static async start(
    settings: Readonly<Record<string, string>> = {},
    mebibytes?: number,
  ): Promise<PostgresServer> {
    const dir = mkdtempSync(join(tmpdir(), 'postgres-'));
    if (mebibytes !== undefined)
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', dir]);
    const { uid, gid } = owner();
    if (uid !== undefined) chownSync(dir, uid, gid!);
    writeData(dir);
    const server = new PostgresServer(await freePort(), dir, settings);
    server.#isMounted = mebibytes !== undefined;
    await server.run();
    return server;
  }

  /** Fills its own disk. Returns a function that makes room. */
  fill(): () => void {
    const filler = join(this.#dir, 'filler');
    const { bavail, bsize } = statfsSync(this.#dir);
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    } catch (error) {
      // The server has taken some of it meanwhile, so it is full all the same.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
    return () => rmSync(filler);
  }

  /** The database `postgres`, for the options of a store. */
  get url(): string {
    return this.urlAt(this.port);
  }

  /** The same behind a proxy. */
  urlAt(port: number | string): string {
    return `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  async run(): Promise<void> {
    const settings = {
      unix_socket_directories: this.#dir,
      listen_addresses: '127.0.0.1',
      port: `${this.port}`,
    };
    const args = Object.entries({ ...settings, ...this.#settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const child = spawn(join(BIN!, 'postgres'), ['-D', join(this.#dir, 'data'), ...args], {
      ...owner(),
      cwd: this.#dir,
      stdio: 'ignore',
    });
    this.#process = child;
    await until(async () => {
      const ended = child.exitCode ?? child.signalCode;
      if (ended !== null) throw new Error(`PostgreSQL ended with ${ended}`);
      return this.sql('SELECT 1').then(
        () => true,
        () => false,
      );
    });
  }

  /** Ends it: `SIGINT` closes every connection first, `SIGQUIT` leaves what is in memory to be recovered. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (!child || (child.exitCode ?? child.signalCode) !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop('SIGQUIT');
    if (this.#isMounted) execFileSync('umount', [this.#dir]);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** All that is in a schema, as `pg_dump` writes it. */
  dump(schema: string): string {
    const args = ['-d', this.url, '-n', schema, '--inserts'];
    return execFileSync(join(BIN!, 'pg_dump'), args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  }

  async sql(text: string): Promise<pg.QueryResultRow[]> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text)).rows as pg.QueryResultRow[];
    } finally {
      await client.end();
    }
  }
}

let common: Promise<PostgresServer> | null = null;

/** The server that the tests of a file share. It is spared the disk: a store has to be opened with `allowEphemeral`. */
export function postgresServer(): Promise<PostgresServer> {
  common ??= PostgresServer.start({ fsync: 'off' }).then((server) =>
    closeAtLast(server, async () => {
      // The next file of this process starts one of its own.
      common = null;
      await server.remove();
    }),
  );
  return common;
}

/** The name of a schema that nobody else uses. */
export const newSchema = (): string => `asg_${randomBytes(6).toString('hex')}`;

/** Describes what needs PostgreSQL. */
export const describeWithPostgres = (title: string, tests: (this: Mocha.Suite) => void): void =>
  describeWith(
    { name: 'PostgreSQL (Debian: postgresql), or POSTGRES_BIN', isThere: hasPostgres },
    title,
    tests,
  );
