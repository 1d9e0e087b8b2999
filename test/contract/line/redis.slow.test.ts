import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type RedisClientType } from '@redis/client';
import { redisStore } from '../../../server/stores/redis/index.js';
import type { Store } from '../../../server/stores/store.js';
import { openStore } from '../../support/open-store.js';
import { describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';
import { CutLine } from './cut-line.js';
import { describeMembers, type Refusing } from './describe-members.js';

describeWithRedis('store contract over a line that breaks: Redis', () => {
  let server: RedisServer;
  /** It is told something some thousand times, for which a program each would take longer than all else. */
  let admin: RedisClientType;

  before(async () => {
    server = await RedisServer.start();
    admin = createClient({ url: `redis://127.0.0.1:${server.port}` });
    admin.on('error', () => {});
    await admin.connect();
    mkdirSync(join(server.dir, 'dump.rdb'));
    server.cli('BGSAVE');
    await until(() => /rdb_last_bgsave_status:err/.test(server.cli('INFO', 'persistence')));
  });
  after(async () => {
    admin.destroy();
    await server.stop();
  });

  const opened = async (port: number, prefix: string): Promise<Store> => {
    return openStore(redisStore({ url: `redis://127.0.0.1:${port}`, prefix, leaseMs: 1000 }));
  };
  const config = (name: string, value: string) => admin.sendCommand(['CONFIG', 'SET', name, value]);
  const acl = (...rules: string[]) => admin.sendCommand(['ACL', 'SETUSER', 'default', ...rules]);
  const promote = (): unknown => admin.sendCommand(['REPLICAOF', 'NO', 'ONE']);
  /** Of nobody: it keeps what it has. */
  const demote = () => admin.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
  const refusing: readonly Refusing[] = [
    { name: 'OOM', begin: () => config('maxmemory', '1'), end: () => config('maxmemory', '0') },
    // A script that runs is to have all its commands.
    {
      name: 'NOPERM',
      begin: () => acl('-eval', '-evalsha', '-set', '-del', '-zrem'),
      end: () => acl('+@all'),
    },
    // Its last snapshot could not be written, and is asked for from now on.
    { name: 'MISCONF', begin: () => config('save', '3600 1'), end: () => config('save', '') },
    {
      name: 'READONLY for a moment',
      begin: async () => {
        await demote();
        setTimeout(promote, 100);
      },
      end: promote,
    },
    {
      name: 'READONLY for longer than it is tried',
      begin: demote,
      end: promote,
      only: /of one that begins$|of a run that begins|that erases/,
    },
  ];

  it('is left also where it is away for good', async () => {
    const own = closeLater(await RedisServer.start(), (it) => it.stop());
    const store = await opened(own.port, newPrefix());
    const membership = await store.shared!.join({ holder: 'gw.a', hear() {}, away() {}, lapsed() {} });
    await own.end();
    await membership.leave();
  }).timeout(30_000);

  describeMembers(() => ({
    refusing,
    async open() {
      const prefix = newPrefix();
      const line = await CutLine.to(server.port);
      const [store, beside] = [await opened(line.port, prefix), await opened(server.port, prefix)];
      const mentions = (text: string) => server.cli('KEYS', `${prefix}:*`).includes(text);
      return { store, beside, arm: (hit) => line.arm(hit), disarm: () => line.disarm(), mentions };
    },
  }));
});
