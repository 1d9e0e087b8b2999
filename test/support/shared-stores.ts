import { todays } from './daily.js';
import { describeWithPostgres, PostgresServer } from './postgres-server.js';
import { describeWithRedis, RedisServer } from './redis-server.js';
import { closeLater } from './resources.js';

/** A store that gateways share, as its users have it: a server. */
export interface SharedStoreKind {
  readonly name: string;
  /** Describes what needs it; left out where it is not installed. */
  describe(title: string, tests: () => void): void;
  /** Starts a server for the running test. Returns its URL. */
  start(): Promise<string>;
}

const ALL: readonly SharedStoreKind[] = [
  {
    name: 'Redis',
    describe: describeWithRedis,
    start: async () => closeLater(await RedisServer.start(), (server) => server.stop()).url,
  },
  {
    name: 'PostgreSQL',
    describe: describeWithPostgres,
    start: async () => closeLater(await PostgresServer.start(), (server) => server.remove()).url,
  },
];

/** Those that gateways share: one of them a day. */
export const SHARED_STORES = todays(ALL, ALL.length);

/** Each of them with each of these: one pair a day. */
export function pairedWithStores<T>(all: readonly T[]): readonly (readonly [SharedStoreKind, T])[] {
  const pairs = ALL.flatMap((store) => all.map((other) => [store, other] as const));
  return todays(pairs, pairs.length);
}
