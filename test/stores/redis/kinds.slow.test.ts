import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Notes } from '../../../server/cluster/notes.js';
import { type RedisStoreOptions, redisStore } from '../../../server/stores/redis/index.js';
import type { Store } from '../../../server/stores/store.js';
import { keptStore, record, records, refOf, TestWriter } from '../../../testing/stores/records.js';
import { describeStore } from '../../../testing/stores/store-contract.js';
import { freePort } from '../../support/free-port.js';
import { openStore } from '../../support/open-store.js';
import { startCluster } from '../../support/redis-cluster.js';
import { APPENDING, describeWithRedis, newPrefix, RedisServer } from '../../support/redis-server.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';
import { refused } from './refused-server.js';

/** What gateways do with one another by way of a store, between two of them. */
async function expectTogether(options: RedisStoreOptions): Promise<void> {
  const open = async (): Promise<Store> => {
    return openStore(redisStore(options));
  };
  const [a, b] = [await open(), await open()];
  const heard: string[] = [];
  const member = (holder: string) => ({
    holder,
    hear: (text: string) => void heard.push(text),
    away: () => {},
    lapsed: () => {},
  });
  const first = await a.shared!.join(member('gw.a'));
  const second = await b.shared!.join(member('gw.b'));
  expect(await first.members()).to.have.members(['gw.a', 'gw.b']);
  expect(await first.tell('gw.b', 'hello')).to.equal(true);
  await until(() => heard.length > 0);
  expect(await first.tell('gw.c', 'hello')).to.equal(false);
  expect(await new Notes(a).put('note', '1', { ttlMs: 60_000, once: true })).to.equal(true);
  expect(await new Notes(b).get('note')).to.equal('1');
  // Enough for all parts of a group to have some.
  for (let i = 0; i < 12; i++) {
    const name = `s${i}`;
    let wakes = 0;
    const stop = closeLater(
      b.watch(refOf(name), () => wakes++),
      (it) => it(),
    );
    await until(() => wakes > 0);
    const writer = await TestWriter.acquire(a, refOf(name), undefined, 'gw.a');
    expect((await b.acquire(refOf(name), { holder: 'gw.b' })).kind).to.equal('owned');
    const seen = wakes;
    await writer.append([record(1, 'message_accepted')], { opens: { runId: `run_${i}`, request: '{}' } });
    await until(() => wakes > seen);
    stop();
    expect(await b.read(writer.log, 0, 9, 9999)).to.have.length(1);
    expect(await b.run(refOf(name), { runId: `run_${i}` })).to.include({ accepted: 1 });
  }
  expect(await b.unfinished()).to.deep.equal([]);
  await first.leave();
  expect(await b.unfinished()).to.have.length(12);
  await second.leave();
}

describeWithRedis('Redis of every kind', () => {
  describe('a Cluster', () => {
    let servers: readonly RedisServer[] = [];
    const nodes = () => servers.map(({ url }) => url);

    before(async () => {
      servers = await startCluster();
    });
    after(() => Promise.all(servers.map((server) => server.stop())));

    it('is shared by gateways, its sessions on all of its masters', async () => {
      await expectTogether({ cluster: { nodes: nodes().slice(0, 1) }, prefix: newPrefix() });
      for (const server of servers) expect(Number(server.cli('dbsize'))).to.be.greaterThan(0);
    });

    describeStore('redis cluster', () => {
      const prefix = newPrefix();
      return keptStore(() => redisStore({ cluster: { nodes: nodes() }, prefix }));
    });
  });

  describe('Sentinel', () => {
    it('is asked for the master, and for the next one when that has ended', async () => {
      const start = async (options: readonly string[]) =>
        closeLater(await RedisServer.start(options), (it) => it.stop());
      const least = ['--min-replicas-to-write', '1'];
      const master = await start(APPENDING);
      const replicas = [
        await start([...APPENDING, ...least, '--replicaof', '127.0.0.1', String(master.port)]),
      ];
      replicas.push(await start([...APPENDING, ...least, '--replicaof', '127.0.0.1', String(master.port)]));
      for (const replica of replicas)
        while (!/master_link_status:up/.test(replica.cli('info', 'replication')))
          await new Promise((resolve) => setTimeout(resolve, 50));
      const sentinel = await startSentinel(master.port);
      const options = {
        sentinel: { name: 'main', nodes: [{ host: '127.0.0.1', port: sentinel.port }] },
        prefix: newPrefix(),
      };
      const { message, details } = await refused(options);
      expect(message).to.contain('`min-replicas-to-write 1`');
      expect(details).to.deep.equal({ reason: 'ephemeral' });
      await (await openStore(redisStore({ ...options, durability: 'everysec' }))).close();
      master.cli('config', 'set', 'min-replicas-to-write', '1');
      await expectTogether(options);
      const store = await openStore(redisStore(options));
      const writer = await TestWriter.acquire(store, refOf('failing'));
      await writer.append(records(1, 3));
      const offset = (server: RedisServer): string =>
        /^(?:master|slave)_repl_offset:(\d+)/m.exec(server.cli('info', 'replication'))![1]!;
      // Writes that the replicas do not have are lost with the master.
      for (const replica of replicas)
        while (offset(replica) !== offset(master)) await new Promise((resolve) => setTimeout(resolve, 20));
      await master.end();
      for (;;) {
        try {
          await store.append(writer.log, records(4, 4), { term: writer.term, batch: 2 });
          break;
        } catch (error) {
          if (!['UNKNOWN', 'UNAVAILABLE'].includes((error as { code: string }).code)) throw error;
        }
      }
      expect((await store.read(writer.log, 0, 9, 9999)).map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4]);
      const isMaster = (server: RedisServer): boolean =>
        server.cli('info', 'replication').includes('role:master');
      expect(replicas.filter(isMaster)).to.have.length(1);
    });

    it('has a primary that stood still believed once a replica has what it says', async () => {
      const start = async (...options: readonly string[]) =>
        closeLater(await RedisServer.start([...APPENDING, ...options]), (it) => it.stop());
      const primary = await start('--min-replicas-to-write', '1');
      const replica = await start('--replicaof', '127.0.0.1', String(primary.port));
      while (!/slave0:.*state=online/.test(primary.cli('info', 'replication'))) await delay(50);
      const sentinel = await startSentinel(primary.port, 3_600_000);
      const nodes = [{ host: '127.0.0.1', port: sentinel.port }];
      const store = await openStore(
        redisStore({ sentinel: { name: 'main', nodes }, prefix: newPrefix(), leaseMs: 60_000 }),
      );
      const writer = await TestWriter.acquire(store, refOf('doubted'));
      await writer.append(records(1, 3));
      for (const server of [primary, replica]) server.freeze();
      let isTold = false;
      const told = Promise.resolve(writer.append(records(4, 4))).then(() => {
        isTold = true;
      });
      // So long that another one may be the primary.
      await delay(1000);
      primary.thaw();
      // It takes writes before it has looked after its replicas, and is asked then what they have.
      await until(() => isTold || /blocked_clients:[1-9]/.test(primary.cli('info', 'clients')));
      expect(isTold).to.equal(false);
      replica.thaw();
      await told;
      expect((await store.read(writer.log, 0, 9, 9999)).map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4]);
    });
  });

  describe('TLS', () => {
    it('is spoken, with a certificate that is known', async () => {
      const dir = closeLater(mkdtempSync(join(tmpdir(), 'gateway-tls-')), (it) =>
        rmSync(it, { recursive: true }),
      );
      const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
      const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
      const made = spawnSync('openssl', [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        key,
        '-out',
        cert,
        ...subject,
      ]);
      expect(made.status, String(made.stderr)).to.equal(0);
      const port = await freePort();
      const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
      const server = await RedisServer.start([
        ...APPENDING,
        '--tls-port',
        String(port),
        ...files,
        '--tls-auth-clients',
        'no',
      ]);
      closeLater(server, (it) => it.stop());
      const url = `rediss://127.0.0.1:${port}`;
      await expectTogether({
        url,
        prefix: newPrefix(),
        client: { socket: { tls: true, ca: readFileSync(cert) } },
      });
    });
  });

  describe('ACL', () => {
    it('may be as narrow as the prefix', async () => {
      const server = await RedisServer.start();
      closeLater(server, (it) => it.stop());
      const rules = /`(on >password [^`]+)`/.exec(readFileSync('docs/cluster.md', 'utf8'))![1]!;
      const given = rules.replace('password', 'secret').replaceAll('asg:', 'mine:').split(' ');
      expect(server.cli('acl', 'setuser', 'gateway', ...given)).to.equal('OK');
      const options = { url: `redis://gateway:secret@127.0.0.1:${server.port}`, prefix: 'mine' };
      await expectTogether(options);
      const store = await openStore(redisStore(options));
      await store.vacuum?.();
      await store.check?.();
      const other = redisStore({ url: `redis://gateway:secret@127.0.0.1:${server.port}`, prefix: 'other' });
      const refused = await (async () => other.open())().catch((error: Error) => error);
      expect(String(refused)).to.match(/NOPERM/);
    });
  });
});

/** A Sentinel that watches a master, quick to find that it has ended. */
async function startSentinel(master: number, downMs = 500): Promise<RedisServer> {
  const dir = closeLater(mkdtempSync(join(tmpdir(), 'gateway-sentinel-')), (it) =>
    rmSync(it, { recursive: true }),
  );
  const file = join(dir, 'sentinel.conf');
  const rules = [
    `sentinel monitor main 127.0.0.1 ${master} 1`,
    `sentinel down-after-milliseconds main ${downMs}`,
    'sentinel failover-timeout main 2000',
  ];
  writeFileSync(file, `${rules.join('\n')}\n`);
  return closeLater(await RedisServer.start([], file), (it) => it.stop());
}
