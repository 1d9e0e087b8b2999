import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer } from '../../support/postgres-server.js';
import { APPENDING, RedisServer } from '../../support/redis-server.js';
import { ServerStore } from './server-store.js';
import type { StoreUnderTest } from './store-under-test.js';

/** A store whose clock a test sets. */
export interface ClockedStore extends StoreUnderTest {
  /** @param seconds By which it is ahead of other clocks */
  set(seconds: number): Promise<void>;
}

/** The clock of a program that asks for the time, ahead by what a file says. Debian's libfaketime does not go together with Redis' allocator. */
const SOURCE = `#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile int64_t *ahead;
static void __attribute__((constructor)) begin(void) {
  ahead = mmap(0, 8, PROT_READ, MAP_SHARED, open(getenv("CLOCK_FILE"), O_RDONLY), 0);
}
int clock_gettime(clockid_t id, struct timespec *at) {
  int failed = syscall(SYS_clock_gettime, id, at);
  if (!failed && ahead && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += *ahead;
  return failed;
}
int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
`;

/** Whether there is a compiler. */
export const hasCompiler = spawnSync('cc', ['--version']).status === 0;

export class ClockedRedis extends ServerStore<RedisServer> implements ClockedStore {
  readonly #file: string;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-clock-'));
    const [source, library, file] = ['clock.c', 'clock.so', 'ahead'].map((name) => join(folder, name));
    writeFileSync(source!, SOURCE);
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library!, source!]);
    writeFileSync(file!, Buffer.alloc(8));
    const env = { LD_PRELOAD: library!, CLOCK_FILE: file! };
    super({
      kind: 'redis',
      first: () => RedisServer.start(APPENDING, undefined, undefined, env),
      again: (server) => server.begin(),
      end: (server) => server.end(),
      remove: async (server) => {
        await server.stop();
        rmSync(folder, { recursive: true });
      },
    });
    this.#file = file!;
  }

  async set(seconds: number): Promise<void> {
    const ahead = Buffer.alloc(8);
    ahead.writeBigInt64LE(BigInt(seconds));
    // It is mapped, so it is never cut.
    const file = openSync(this.#file, 'r+');
    writeSync(file, ahead, 0, 8, 0);
    closeSync(file);
  }
}

/** Sessions find this function before the one of the server. */
const CLOCK = `CREATE SCHEMA clock; CREATE TABLE clock.set (by interval); INSERT INTO clock.set VALUES ('0');
  CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT pg_catalog.clock_timestamp() + by FROM clock.set';
  ALTER DATABASE postgres SET search_path = clock, pg_catalog, public`;

export class ClockedPostgres extends ServerStore<PostgresServer> implements ClockedStore {
  constructor() {
    super({
      kind: 'postgres',
      first: async () => {
        const server = await PostgresServer.start();
        await server.sql(CLOCK);
        return server;
      },
      again: (server) => server.run(),
      end: (server) => server.stop('SIGQUIT'),
      remove: (server) => server.remove(),
    });
  }

  async set(seconds: number): Promise<void> {
    await this.server!.sql(`UPDATE clock.set SET by = make_interval(secs => ${seconds})`);
  }
}
