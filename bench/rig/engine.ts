import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';

/** Microseconds of a tick of the processor's time in /proc. */
const TICK_MICROS = 10_000;
const REDIS = '/usr/bin/redis-server';
const POSTGRES = '/usr/lib/postgresql';
const isRoot = process.getuid?.() === 0;

export type EngineKind = 'redis' | 'postgres';

/** A store that gateways share, on a port and with a folder of its own. */
export class Engine {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  /** @throws Error where it is not installed */
  static async start(kind: EngineKind): Promise<Engine> {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
    const port = await freePort();
    const engine = kind === 'redis' ? startRedis(folder, port) : startPostgres(folder, port);
    await listening(port, engine);
    if (kind === 'postgres') await serving(port);
    const url =
      kind === 'redis' ? `redis://127.0.0.1:${port}` : `postgres://postgres@127.0.0.1:${port}/postgres`;
    return new Engine(url, engine, folder);
  }

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url;
    this.#process = child;
    this.#folder = folder;
  }

  /** CPU that it has used so far, all of its processes together, in microseconds. Linux alone tells. */
  cpu(): number {
    const pids = [this.#process.pid!, ...childrenOf(this.#process.pid!)];
    return pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    // PostgreSQL: without waiting for those who are connected.
    this.#process.kill('SIGINT');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function startRedis(folder: string, port: number): ChildProcess {
  if (!existsSync(REDIS)) throw new Error(`There is no ${REDIS}: apt install redis-server`);
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
  return spawn(REDIS, [...place, ...settings, '--loglevel', 'warning'], { stdio: 'ignore' });
}

function startPostgres(folder: string, port: number): ChildProcess {
  const [version] = existsSync(POSTGRES) ? readdirSync(POSTGRES).toSorted().toReversed() : [];
  if (version === undefined) throw new Error(`There is no ${POSTGRES}: apt install postgresql`);
  const programs = join(POSTGRES, version, 'bin');
  // It does not run as root.
  const user = isRoot ? { uid: idOf('u'), gid: idOf('g') } : {};
  if (isRoot) chownSync(folder, user.uid!, user.gid!);
  const data = join(folder, 'data');
  const init = ['-D', data, '-U', 'postgres', '--auth', 'trust', '--no-sync'];
  execFileSync(join(programs, 'initdb'), init, { ...user, stdio: 'ignore', cwd: folder });
  const place = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
  return spawn(join(programs, 'postgres'), place, { ...user, stdio: 'ignore', cwd: folder });
}

const idOf = (what: 'u' | 'g'): number =>
  Number(execFileSync('id', [`-${what}`, 'postgres'], { encoding: 'utf8' }));

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      socket.destroy();
    }
  }
}

/** Resolves once PostgreSQL takes connections: while it starts it answers that it does. */
async function serving(port: number): Promise<void> {
  // A start-up message of protocol 3.0 for the user postgres; the first byte of an answer of R asks for nothing more.
  const text = Buffer.from('user\0postgres\0\0');
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + text.length, 0);
  head.writeInt32BE(196_608, 4);
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    socket.write(Buffer.concat([head, text]));
    const answer: Buffer = await once(socket, 'data').then(
      ([data]) => data,
      () => Buffer.from('E'),
    );
    socket.destroy();
    if (answer.toString('latin1', 0, 1) === 'R') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function cpuOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}
