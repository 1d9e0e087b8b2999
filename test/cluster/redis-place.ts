import { redisStore } from '../../server/stores/redis/index.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { newPrefix, RedisServer, sharedRedis } from '../support/redis-server.js';
import { closeLater } from '../support/resources.js';
import type { Place, StoreNode } from './place.js';

/** Long enough for a busy machine, where a gateway may not run for a second: who is alive must not be judged dead. */
const LEASE_MS = 2000;

/** A place in the Redis of the tests, or in one of the test's own. */
export async function redisPlace({ own }: { readonly own?: boolean }): Promise<Place> {
  const server = own ? closeLater(await RedisServer.start(), (it) => it.stop()) : await sharedRedis();
  const prefix = newPrefix();
  const node = async (): Promise<StoreNode> => {
    const line = await FaultProxy.start(server.url);
    const url = `redis://127.0.0.1:${new URL(line.url).port}`;
    return {
      store: redisStore({ url, prefix, leaseMs: LEASE_MS }),
      kill() {
        line.deaf = 'both';
        line.cut();
      },
      freeze() {
        line.deaf = 'both';
        line.hush();
      },
      thaw() {
        line.deaf = undefined;
        line.cut();
      },
    };
  };
  return {
    node,
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
