import { redisStore } from '../../server/stores/redis/index.js';
import { LineNode } from '../support/line-node.js';
import { newPrefix, RedisServer, sharedRedis } from '../support/redis-server.js';
import { closeLater } from '../support/resources.js';
import type { Place } from './place.js';

/** Long enough for a busy machine, where a gateway may not run for a second: who is alive must not be judged dead. */
const LEASE_MS = 2000;

/** A place in the Redis of the tests, or in one of the test's own. */
export async function redisPlace({ own }: { readonly own?: boolean }): Promise<Place> {
  const server = own ? closeLater(await RedisServer.start(), (it) => it.stop()) : await sharedRedis();
  const prefix = newPrefix();
  const options = { prefix, leaseMs: LEASE_MS };
  return {
    node: () =>
      LineNode.start(server.url, (port) => redisStore({ url: `redis://127.0.0.1:${port}`, ...options })),
    async holder() {
      const metas = server.cli('keys', `${prefix}:*:m:*`).split('\n');
      return metas[0] ? server.cli('hget', metas[0], 'own') : '';
    },
    stop: () => server.end(),
    run: () => server.begin(),
    mark() {
      const { written } = server;
      return () => server.forget(written);
    },
  };
}
