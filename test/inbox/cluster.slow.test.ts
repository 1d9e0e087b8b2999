import { expect } from 'chai';
import { clientInbox } from '../../client/inbox/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { Line } from '../support/line.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { closeLater } from '../support/resources.js';
import { answering, following } from './begin.js';

/** Two gateways on Redis, the second by a line that can be cut. */
async function two() {
  const server = closeLater(await RedisServer.start(), (it) => it.stop());
  const line = await Line.to(Number(new URL(server.url).port));
  const start = async (url: string) => {
    const gateway = await startGateway({ app: answering, store: redisStore({ url, leaseMs: 1500 }) });
    const client = connectClient(gateway.url);
    return { client, inbox: clientInbox(client) };
  };
  return { line, here: await start(server.url), there: await start(`redis://127.0.0.1:${line.port}`) };
}

describeWithRedis('inboxes of two gateways on Redis', () => {
  it('tell at one what was done at the other', async () => {
    const { here, there } = await two();
    const shown = following(there.inbox);
    await here.client.send('main', 'hi').result;
    await shown.until(({ rows }) => rows.get('main')?.unread === 1);
    await here.inbox.read('main');
    await shown.until(({ rows }) => rows.get('main')?.unread === 0);
    await here.client.session('main').update({ title: 'Talk' });
    await shown.until(({ rows }) => rows.get('main')?.title === 'Talk');
    here.client.send('asks', 'ask');
    await shown.until(({ totals }) => totals.waiting === 1);
    await here.client.session('main').delete();
    await shown.until(({ rows }) => !rows.has('main'));
    expect(shown.resets).to.equal(1);
  });

  it('tell of everything that was done while one could not reach the store', async () => {
    const { here, there, line } = await two();
    for (const id of ['one', 'two', 'three']) await here.client.send(id, 'hi').result;
    const shown = following(there.inbox);
    await shown.until(({ totals }) => totals.unread === 3);
    line.cut();
    await here.inbox.read('one');
    await here.client.session('two').update({ title: 'Second' });
    await here.client.close('three');
    await here.client.send('four', 'hi').result;
    line.mend();
    await shown.until(
      ({ rows }) =>
        rows.get('one')?.unread === 0 &&
        rows.get('two')?.title === 'Second' &&
        rows.get('four')?.unread === 1 &&
        !rows.has('three'),
    );
    const { unread } = await here.inbox.list();
    expect(shown.totals.unread).to.equal(unread);
  });
});
