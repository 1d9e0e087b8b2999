import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { RedisServer } from '../../support/redis-server.js';
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

/** A Redis that appends to a file, which it hands to the disk every second. */
export const redisUnderTest: StartStore = async () => {
  let server: RedisServer | null = null;
  let up = false;
  let watch: FileWatch | null = null;
  const file = (): string => {
    const directory = join(server!.dir, 'appendonlydir');
    return join(directory, readdirSync(directory).find((name) => name.endsWith('.incr.aof'))!);
  };
  return {
    kind: 'redis',
    get port() {
      return server!.port;
    },
    get up() {
      return up;
    },
    async start() {
      if (server) await server.begin();
      else server = await RedisServer.start(['--appendonly', 'yes', '--appendfsync', 'everysec']);
      watch = new FileWatch(file);
      up = true;
    },
    async kill() {
      watch?.end();
      await server?.end();
      up = false;
    },
    async killForgetful() {
      const kept = watch!.end();
      await server!.end();
      up = false;
      const { size } = statSync(file());
      // Where it ends in the middle of a transaction, Redis leaves that out.
      truncateSync(file(), kept);
      return size - kept;
    },
    async remove() {
      watch?.end();
      await server?.stop();
    },
  };
};
