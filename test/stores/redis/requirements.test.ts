import { expect } from 'chai';
import { storeAt } from '../../../server/runtime/store-at.js';
import { type RedisStoreOptions, redisStore } from '../../../server/stores/redis/index.js';
import type { GatewayError } from '../../../shared/errors.js';
import { refOf, refusal, TestWriter } from '../../../testing/stores/records.js';
import { openStore } from '../../support/open-store.js';
import { APPENDING, describeWithRedis, newPrefix } from '../../support/redis-server.js';
import { refused, start } from './refused-server.js';

describe('options of redisStore', () => {
  it('are refused where they cannot be, by name', async () => {
    const url = 'redis://127.0.0.1:1';
    const cases: [RedisStoreOptions, RegExp][] = [
      [{}, /`url`/],
      [{ url, prefix: '' }, /`prefix`/],
      [{ url, prefix: 'a{b}' }, /`prefix`/],
      [{ url, leaseMs: 99 }, /`leaseMs`/],
      [{ url, leaseMs: Number.NaN }, /`leaseMs`/],
      [{ url, durability: 'no' as 'none' }, /`durability`/],
      [{ cluster: { nodes: [] } }, /`cluster.nodes`/],
      [{ sentinel: { name: 'm', nodes: [] } }, /`sentinel.nodes`/],
      [{ cluster: { nodes: [url] }, sentinel: { name: 'm', nodes: [{ host: 'h', port: 1 }] } }, /exclude/],
    ];
    for (const [options, said] of cases) {
      const { message, details } = await refused(options);
      expect(message).to.match(said);
      expect(details).to.include({ reason: 'options' });
    }
  });
});

describeWithRedis('a Redis that cannot keep what is promised', () => {
  it('is refused without a file, unless that is wanted', async () => {
    const { url } = await start('--appendonly', 'no');
    const { message, details } = await refused({ url });
    expect(message).to.include('appendonly').and.include("durability: 'none'");
    expect(details).to.deep.equal({ reason: 'ephemeral' });
    const store = await openStore(redisStore({ url, durability: 'none' }));
    expect(store.durability).to.equal('memory');
  });

  it('is refused where a loss of power takes its last moments, unless that is accepted', async () => {
    const { url } = await start('--appendonly', 'yes', '--appendfsync', 'everysec');
    const { message, details } = await refused({ url });
    expect(message).to.include('appendfsync always').and.include("durability: 'everysec'");
    expect(details).to.deep.equal({ reason: 'ephemeral' });
    for (const accepting of [
      redisStore({ url, durability: 'everysec' }),
      await storeAt(`${url}/0?durability=everysec`),
    ])
      expect((await openStore(accepting)).durability).to.equal('process');
    const wrong = await storeAt(`${url}?durability=no`).catch((error: GatewayError) => error);
    expect(wrong).to.have.nested.property('details.reason', 'options');
  });

  it('is refused where it does not say how it writes to the disk, and taken by a user who may ask that alone', async () => {
    const server = await start(...APPENDING);
    const { url } = server;
    const rights = ['on', 'nopass', '~asg:*', '&asg:*', '+@all', '-@dangerous', '-@admin', '+info'];
    server.cli('acl', 'setuser', 'default', 'reset', ...rights, '+acl');
    const { message, details } = await refused({ url });
    expect(message).to.include('CONFIG GET appendfsync').and.include('NOPERM');
    expect(details).to.deep.equal({ reason: 'ephemeral' });
    server.cli('acl', 'setuser', 'default', '+config|get', '+bgrewriteaof');
    const store = await openStore(redisStore({ url }));
    expect(store.durability).to.equal('disk');
    await store.vacuum?.();
  });

  it('is refused where it drops keys', async () => {
    const dropping = await start(...APPENDING, '--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
    const { message, details } = await refused({ url: dropping.url });
    expect(message).to.include('maxmemory-policy').and.include('noeviction');
    expect(details).to.deep.equal({ reason: 'eviction' });
  });

  it('is refused where its keys are of another format', async () => {
    const server = await start(...APPENDING);
    server.cli('set', 'x:format', '2 64');
    const { message, details } = await refused({ url: server.url, prefix: 'x' });
    expect(message).to.include('2 64').and.include('prefix');
    expect(details).to.deep.equal({ reason: 'format' });
  });

  it('says that it cannot be written when its memory is full, and goes on when it is not', async () => {
    const server = await start(...APPENDING);
    const store = await openStore(redisStore({ url: server.url, prefix: newPrefix() }));
    const writer = await TestWriter.acquire(store, refOf());
    await store.check?.();
    server.cli('config', 'set', 'maxmemory-policy', 'noeviction');
    server.cli('config', 'set', 'maxmemory', '1mb');
    expect(await refusal(() => store.check?.())).to.equal('UNAVAILABLE');
    expect(await refusal(() => writer.append([]))).to.equal('UNAVAILABLE');
    server.cli('config', 'set', 'maxmemory', '0');
    writer.batch = 0;
    await writer.append([]);
    await store.check?.();
  });
});
