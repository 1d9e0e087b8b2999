import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { RedisServer } from '../../support/redis-server.js';
import type { StartStore } from './store-under-test.js';

/** What a Redis forgets at most that lost its power, in bytes of its append-only file. */
const FORGOTTEN = 48 * 1024;

/** A Redis that appends to a file, which it hands to the disk every second. */
export const redisUnderTest: StartStore = async () => {
  let server: RedisServer | null = null;
  let up = false;
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
      up = true;
    },
    async kill() {
      await server?.end();
      up = false;
    },
    async killForgetful() {
      await server!.end();
      up = false;
      const directory = join(server!.dir, 'appendonlydir');
      const name = readdirSync(directory).find((file) => file.endsWith('.incr.aof'))!;
      const file = join(directory, name);
      const { size } = statSync(file);
      const forgotten = Math.min(FORGOTTEN, Math.floor(size / 2));
      // Where it ends in the middle of a transaction, Redis leaves that out.
      truncateSync(file, size - forgotten);
      return forgotten;
    },
    remove: () => server?.stop(),
  };
};
