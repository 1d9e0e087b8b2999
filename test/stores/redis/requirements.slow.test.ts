import { expect } from 'chai';
import { redisStore } from '../../../server/stores/redis/index.js';
import { refOf, refusal } from '../../../testing/stores/records.js';
import { freePort } from '../../support/free-port.js';
import { openStore } from '../../support/open-store.js';
import { APPENDING, describeWithRedis, newPrefix } from '../../support/redis-server.js';
import { refused, start } from './refused-server.js';

// Each waits as long as a store tries to reach a Redis.

describeWithRedis('a Redis that cannot keep what is promised', () => {
  it('is refused where it is not there, or takes no password, after a time', async function () {
    this.timeout(30_000);
    expect((await refused({ url: `redis://127.0.0.1:${await freePort()}` })).details).to.deep.equal({
      reason: 'unreachable',
    });
    const locked = await start(...APPENDING, '--requirepass', 'secret');
    const { message } = await refused({ url: locked.url });
    expect(message).to.match(/NOAUTH|Authentication/i);
    expect(message).to.not.include('secret');
    const store = redisStore({ url: `redis://:secret@127.0.0.1:${locked.port}` });
    await store.open();
    await store.close();
  });

  it('says that it cannot be written while it is away', async () => {
    const server = await start(...APPENDING);
    const store = await openStore(redisStore({ url: server.url, prefix: newPrefix(), leaseMs: 200 }));
    await server.end();
    expect(await refusal(() => store.check?.())).to.equal('UNAVAILABLE');
    expect(await refusal(() => store.head(refOf()))).to.equal('UNAVAILABLE');
    await server.begin();
    expect(await store.head(refOf())).to.equal(null);
  });
});
