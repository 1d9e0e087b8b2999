import { hasPostgres } from '../../support/postgres-server.js';
import { hasRedis } from '../../support/redis-server.js';
import { postgresUnderTest } from './postgres.js';
import { redisUnderTest } from './redis.js';
import type { StartStore, StoreSpec } from './store-under-test.js';

interface Candidate {
  readonly kind: StoreSpec['kind'];
  readonly under: StartStore;
  readonly isInstalled: boolean;
}

const ALL: readonly Candidate[] = [
  { kind: 'redis', under: redisUnderTest, isInstalled: hasRedis },
  { kind: 'postgres', under: postgresUnderTest, isInstalled: hasPostgres },
];

/**
 * Describes what three gateways do, for each store of `CHAOS_STORES` (`redis`, `postgres`), by default for those that are
 * installed; one line says of the others that they are skipped, and in CI they are an error. The body is told the store's number.
 */
export function describeCluster(
  title: string,
  body: (this: Mocha.Suite, under: StartStore, number: number) => void,
): void {
  const wanted = process.env.CHAOS_STORES?.split(',');
  for (const [number, { kind, under, isInstalled }] of ALL.entries()) {
    const named = `${title} (${kind})`;
    if (wanted?.includes(kind) ?? isInstalled) {
      describe(named, function () {
        body.call(this, under, number);
      });
    } else if (!wanted) {
      it(`${named}: needs ${kind}, which is not installed`, function () {
        if (process.env.CI) throw new Error(`${kind} is not installed`);
        this.skip();
      });
    }
  }
}
