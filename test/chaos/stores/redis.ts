import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RedisServer } from '../../support/redis-server.js';
import { type ServerKind, ServerStore } from './server-store.js';
import type { StartStore } from './store-under-test.js';

/** How far back a Redis forgets that loses its power while it hands its file to the disk every second. */
const FORGOTTEN_MS = 2000;
const LOOK_MS = 100;

/** Notes how long the append-only file of a Redis was when. */
class FileWatch {
  readonly #seen: { readonly at: number; readonly size: number }[] = [];
  readonly #file: () => string;
  readonly #timer = setInterval(() => this.#look(), LOOK_MS).unref();

  constructor(file: () => string) {
    this.#file = file;
    this.#look();
  }

  #look(): void {
    const at = performance.now();
    this.#seen.push({ at, size: statSync(this.#file()).size });
    while (this.#seen.length > 1 && this.#seen[1]!.at <= at - FORGOTTEN_MS) this.#seen.shift();
  }

  /** Stops. @returns How long it was so long ago, or at first */
  end(): number {
    clearInterval(this.#timer);
    return this.#seen[0]!.size;
  }
}

const OPTIONS = ['--appendonly', 'yes', '--appendfsync', 'everysec'];

/** How far a replica lags behind that takes over, in bytes of what it was not told. */
const LAG = 50_000;

/** Starts a replica of a Redis, and waits until it has everything. */
async function startReplica(primary: RedisServer): Promise<RedisServer> {
  const replica = await RedisServer.start(OPTIONS);
  // Not an option of its start: one that has taken over, and is started again later, replicates nobody.
  replica.cli('replicaof', '127.0.0.1', `${primary.port}`);
  const isThere = (): boolean =>
    /master_link_status:up/.test(replica.cli('info', 'replication')) &&
    // It writes its file anew with what it was sent first.
    /aof_rewrite_in_progress:0\s+aof_rewrite_scheduled:0/.test(replica.cli('info', 'persistence'));
  while (!isThere()) await delay(50);
  return replica;
}

const offsetOf = (server: RedisServer): number =>
  Number(/^master_repl_offset:(\d+)/m.exec(server.cli('info', 'replication'))![1]);

/** Holds up what a replica is told, until it lags behind. */
async function holdUp(primary: RedisServer, replica: RedisServer): Promise<void> {
  // It is refused when it comes again.
  for (const name of ['masteruser', 'masterauth']) replica.cli('config', 'set', name, 'nobody');
  primary.cli('client', 'kill', 'type', 'replica');
  const from = offsetOf(replica);
  while (offsetOf(primary) < from + LAG) await delay(20);
  if (offsetOf(replica) !== from) throw new Error('the replica was told what it was not to be told');
}

/** A Redis that is started with such options. */
export const redisKind = (options: readonly string[]): ServerKind<RedisServer> => ({
  kind: 'redis',
  first: () => RedisServer.start(options),
  again: (server) => server.begin(),
  end: (server) => server.end(),
  remove: (server) => server.stop(),
});

class AppendingRedis extends ServerStore<RedisServer> {
  #watch: FileWatch | null = null;

  constructor() {
    super({ ...redisKind(OPTIONS), options: { durability: 'everysec' } });
  }

  get #file(): string {
    const directory = join(this.server!.dir, 'appendonlydir');
    return join(directory, readdirSync(directory).find((name) => name.endsWith('.incr.aof'))!);
  }

  override async start(): Promise<void> {
    await super.start();
    this.#watch = new FileWatch(() => this.#file);
  }

  override async kill(): Promise<void> {
    this.#watch?.end();
    await super.kill();
  }

  async killForgetful(): Promise<number> {
    const kept = this.#watch!.end();
    await super.kill();
    const { size } = statSync(this.#file);
    // Where it ends in the middle of a transaction, Redis leaves that out.
    truncateSync(this.#file, kept);
    return size - kept;
  }

  async fill(): Promise<() => Promise<void>> {
    const server = this.server!;
    server.cli('config', 'set', 'maxmemory-policy', 'noeviction');
    server.cli('config', 'set', 'maxmemory', '1');
    return async () => {
      server.cli('config', 'set', 'maxmemory', '0');
    };
  }

  async failOver(): Promise<void> {
    const primary = this.server!;
    const replica = await startReplica(primary);
    await holdUp(primary, replica);
    this.#watch?.end();
    await primary.stop();
    replica.cli('replicaof', 'no', 'one');
    this.server = replica;
    this.#watch = new FileWatch(() => this.#file);
  }

  override remove(): unknown {
    this.#watch?.end();
    return super.remove();
  }
}

/** A Redis that appends to a file, which it hands to the disk every second. */
export const redisUnderTest: StartStore = async () => new AppendingRedis();
