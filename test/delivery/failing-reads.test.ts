import { expect } from 'chai';
import { memoryStore, type Store } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { jsonHeaders, post, startGateway } from '../support/gateway.js';
import { passing } from '../support/overriding.js';
import { openStream } from '../support/sse-client.js';

/** A store whose methods a test may have fail. */
const failingStore = (fail: Partial<Record<string, () => unknown>>): Store =>
  passing(memoryStore(), (name, call) => fail[name]?.() ?? call());

describe('a store that cannot be read', () => {
  it('ends no process and no connection: the stream goes on where it stood once it can be read', async () => {
    const fail: { read?: () => unknown } = {};
    const { url, log } = await startGateway({ app: echo, store: failingStore(fail) });
    const sent = await post(`${url}/send`, { sessionId: 'main', message: 'first' });
    let reads = 0;
    fail.read = () => {
      reads += 1;
      throw new Error('database disk image is malformed');
    };
    const epoch = sent.body.cursor.split('.')[0];
    const query = `sessionId=main&lastEventId=${epoch}.1.0`;
    const stream = await openStream(`${url}/events?${query}`, { headers: jsonHeaders() });
    await stream.until(({ event }) => event === 'connected');
    while (reads === 0) await new Promise(setImmediate);
    // Somebody else is served.
    expect((await post(`${url}/send`, { sessionId: 'other', message: 'x' })).status).to.equal(200);
    expect(log.lines.filter(({ message }) => message === 'reading session main').length).to.equal(1);
    fail.read = () => undefined;
    // The next event wakes it; nothing was lost meanwhile.
    await post(`${url}/send`, { sessionId: 'main', message: 'second' });
    await stream.until(() => stream.logged.filter(({ event }) => event === 'message_end').length === 2);
    const seqs = stream.logged.map(({ id }) => Number(id?.split('.')[2]));
    expect(seqs).to.deep.equal(seqs.map((_, i) => i + 1));
  });

  it('takes no subscription away from a request that came after the one it failed', async () => {
    const fail: { head?: () => unknown } = {};
    const { url } = await startGateway({ app: echo, store: failingStore(fail) });
    await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    const stream = await openStream(`${url}/events`, { headers: jsonHeaders() });
    const { connectionId } = (await stream.until(({ event }) => event === 'connected')).data;
    let reject: ((error: Error) => void) | undefined;
    fail.head = () =>
      new Promise((_, no) => {
        reject = no;
      });
    const foreign = { sessionId: 'main', cursor: 'AAAAAAAAAAA.1.1' };
    const first = post(`${url}/subscribe`, { connectionId, add: [foreign] });
    while (!reject) await new Promise(setImmediate);
    const second = await post(`${url}/subscribe`, {
      connectionId,
      add: [{ sessionId: 'main', from: 'now' }],
    });
    expect(second.status).to.equal(200);
    reject(new Error('connection reset'));
    expect((await first).status).to.be.at.least(500);
    fail.head = () => undefined;
    await post(`${url}/send`, { sessionId: 'main', message: 'y' });
    await stream.until(({ event }) => event === 'message_end');
  });
});
