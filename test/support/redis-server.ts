import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from './describe-with.js';
import { freePort } from './free-port.js';

const PROGRAM = process.env.REDIS_SERVER ?? 'redis-server';

/** Whether there is a Redis on this machine that tests can start. */
export const hasRedis = spawnSync(PROGRAM, ['--version']).status === 0;

/** Describes what needs a Redis. */
export const describeWithRedis = (title: string, tests: (this: Mocha.Suite) => void): void =>
  describeWith({ name: 'redis-server', isThere: hasRedis }, title, tests);

/** A Redis as `redisStore` asks for it. */
export const APPENDING: readonly string[] = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** Tests are not about the disk: where there is room, it is memory, which keeps a write at once. */
const SHARED_MEMORY = '/dev/shm';
const ROOM = 1 << 30;
const hasRoom = ({ bavail, bsize }: { bavail: number; bsize: number }): boolean => bavail * bsize >= ROOM;
const PLACE = existsSync(SHARED_MEMORY) && hasRoom(statfsSync(SHARED_MEMORY)) ? SHARED_MEMORY : tmpdir();

/** A Redis of a test's own, with its data in a directory of its own. */
export class RedisServer {
  readonly port: number;
  readonly dir: string;
  readonly url: string;
  readonly #options: readonly string[];
  /** Of a Sentinel, which writes into it. */
  readonly #file: string | undefined;
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | null = null;

  private constructor(
    port: number,
    dir: string,
    options: readonly string[],
    { file, env }: { readonly file: string | undefined; readonly env: NodeJS.ProcessEnv },
  ) {
    this.#file = file;
    this.#env = env;
    this.port = port;
    this.dir = dir;
    this.url = `redis://127.0.0.1:${port}`;
    this.#options = options;
  }

  /**
   * @param options Of the command line; without any it appends to a file.
   * @param sentinel File of a Sentinel, which this is to be.
   * @param place The folder of its own folder.
   * @param env Of its process, beside that of this one.
   */
  static async start(
    options: readonly string[] = APPENDING,
    sentinel?: string,
    place = PLACE,
    env: NodeJS.ProcessEnv = {},
  ): Promise<RedisServer> {
    const dir = mkdtempSync(join(place, 'gateway-redis-'));
    const server = new RedisServer(await freePort(), dir, options, { file: sentinel, env });
    await server.begin();
    return server;
  }

  /** Starts it again with what is in its directory. */
  async begin(): Promise<void> {
    const where = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.dir];
    const own = this.#file === undefined ? [...where, '--save', ''] : [this.#file, ...where, '--sentinel'];
    const env = { ...process.env, ...this.#env };
    const child = spawn(PROGRAM, [...own, ...this.#options], { stdio: 'ignore', env });
    this.#process = child;
    while (!(await this.#answers())) {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1');
      socket.on('connect', () => socket.write('PING\r\n'));
      socket.on('data', (answer) => {
        resolve(!/LOADING/.test(String(answer)));
        socket.destroy();
      });
      socket.on('error', () => resolve(false));
    });
  }

  get #appended(): string {
    const dir = join(this.dir, 'appendonlydir');
    return join(dir, readdirSync(dir).find((name) => name.endsWith('.incr.aof'))!);
  }

  /** All that it has written. */
  get file(): string {
    const dir = join(this.dir, 'appendonlydir');
    return readdirSync(dir)
      .map((name) => readFileSync(join(dir, name), 'latin1'))
      .join('');
  }

  /** How much it has written. */
  get written(): number {
    return statSync(this.#appended).size;
  }

  /** Ends it as the loss of power does, and starts it with no more than it had written then. */
  async forget(written: number): Promise<void> {
    await this.end();
    truncateSync(this.#appended, written);
    await this.begin();
  }

  /** Runs a command of redis-cli. */
  cli(...args: string[]): string {
    return spawnSync('redis-cli', ['-p', String(this.port), ...args], { encoding: 'utf8' }).stdout.trim();
  }

  /** Stands still until it is ended or thawed: who asks it is not answered. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  /** Goes on with what it was asked meanwhile. */
  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Ends it as the loss of power does, or lets it end in order. */
  async end(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    await this.end();
    // A child of it may still write its file anew.
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

let shared: Promise<RedisServer> | null = null;
let prefixes = 0;

/** A Redis that the tests of a file share, each with keys of its own. It is ended with the last of them. */
export function sharedRedis(): Promise<RedisServer> {
  shared ??= RedisServer.start();
  return shared;
}

/** Ends what `sharedRedis` started. */
export async function endSharedRedis(): Promise<void> {
  const server = shared;
  shared = null;
  await (await server)?.stop();
}

/** What the keys of a test begin with. */
export const newPrefix = (): string => `test${++prefixes}`;
