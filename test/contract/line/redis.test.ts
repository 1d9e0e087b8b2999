import { redisStore } from '../../../server/stores/redis/index.js';
import type { Store } from '../../../server/stores/store.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';
import { closeLater } from '../../support/resources.js';
import { CutLine } from './cut-line.js';
import { describeMembers, type Refusing } from './describe-members.js';

describeWithRedis('store contract over a line that breaks: Redis', () => {
  let server: RedisServer;

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.stop());

  const opened = async (port: number, prefix: string): Promise<Store> => {
    const store = redisStore({ url: `redis://127.0.0.1:${port}`, prefix, leaseMs: 1000 });
    await store.open();
    return closeLater(store, (it) => it.close());
  };
  const refusing: readonly Refusing[] = [
    {
      name: 'OOM',
      begin: () => server.cli('CONFIG', 'SET', 'maxmemory', '1'),
      end: () => server.cli('CONFIG', 'SET', 'maxmemory', '0'),
    },
    {
      name: 'NOPERM',
      begin: () => server.cli('ACL', 'SETUSER', 'default', '-eval', '-evalsha', '-set', '-del'),
      end: () => server.cli('ACL', 'SETUSER', 'default', '+@all'),
    },
  ];

  describeMembers(() => ({
    refusing,
    async open() {
      const prefix = newPrefix();
      const line = await CutLine.to(server.port);
      const [store, beside] = [await opened(line.port, prefix), await opened(server.port, prefix)];
      return { store, beside, arm: (hit) => line.arm(hit), disarm: () => line.disarm() };
    },
  }));
});
