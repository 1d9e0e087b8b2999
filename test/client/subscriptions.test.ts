import { expect } from 'chai';
import { z } from 'zod';
import { GatewayError, method, tracked } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { behindProxy } from '../support/behind-proxy.js';
import { collect, connectClient, failure } from '../support/client.js';
import { jsonHeaders, post, startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { DOORS, Feed, subscribed } from './feed-doors.js';

for (const [door, open] of Object.entries(DOORS)) {
  describe(`a subscription over ${door}`, () => {
    it('is resumed before it had any item, and fails without a place', async () => {
      const { feed, client, cut, items } = await subscribed(open, 1);
      const first = items.next();
      await until(() => items.lastEventId === '0');
      cut();
      await until(() => feed.calls.length === 2);
      feed.push();
      expect((await first).value).to.deep.equal({ n: 1 });
      expect(feed.calls).to.deep.equal([undefined, '0']);
      const plain = client.stream('plain');
      await plain.next();
      const second = plain.next();
      cut();
      expect(await failure(second)).to.include({ code: 'NETWORK' });
    });
  });
}

describe('a subscription', () => {
  for (const transport of ['sse', 'websocket'] as const) {
    it(`goes on when its line has fallen silent (${transport})`, async () => {
      const feed = new Feed();
      const { client, proxy } = await behindProxy(transport, { methods: feed.methods });
      const items = client.stream('feed', { to: 2 });
      feed.push();
      await items.next();
      proxy.hush();
      feed.push();
      expect((await items.next()).value).to.deep.equal({ n: 2 });
    });
  }

  it('ends with what the method or the gateway refuses it with', async () => {
    let calls = 0;
    const { client, proxy } = await behindProxy('sse', {
      methods: {
        async *fickle() {
          calls += 1;
          if (calls > 1)
            throw new GatewayError({ code: 'GONE', status: 410, message: 'That list is no more' });
          yield tracked('a', 1);
          await new Promise(() => {});
        },
      },
    });
    const items = client.stream('fickle');
    await items.next();
    const next = items.next();
    proxy.cut();
    expect(await failure(next)).to.include({ code: 'GONE' });
  });

  it('is ended by its signal while it waits to be resumed', async () => {
    const feed = new Feed();
    const { client, proxy } = await behindProxy('sse', { methods: feed.methods });
    const abort = new AbortController();
    const items = client.stream('feed', { to: 2 }, { signal: abort.signal });
    feed.push();
    await items.next();
    proxy.deaf = 'both';
    const next = items.next();
    proxy.cut();
    abort.abort();
    expect(await failure(next)).to.include({ code: 'ABORTED', name: 'AbortError' });
  });

  it('begins after a place that is known from before, also in a session', async () => {
    const feed = new Feed();
    for (let n = 0; n < 5; n++) feed.push();
    const { url } = await startGateway({ app: echo, methods: feed.methods });
    const client = connectClient(url);
    const options = { lastEventId: '3' };
    expect(await collect(client.stream('feed', { to: 5 }, options))).to.deep.equal([{ n: 4 }, { n: 5 }]);
    const session = client.session('main');
    expect(await collect(session.stream('feed', { to: 5 }, options))).to.deep.equal([{ n: 4 }, { n: 5 }]);
  });

  it('has ids on the wire, and a header to go on after one', async () => {
    const feed = new Feed();
    feed.push();
    feed.push();
    const { url } = await startGateway({ app: echo, methods: feed.methods });
    const body = { method: 'feed', params: { to: 2 } };
    const response = await fetch(`${url}/invoke`, {
      method: 'POST',
      headers: { ...jsonHeaders(), 'last-event-id': '1' },
      body: JSON.stringify(body),
    });
    expect(await response.text()).to.equal(
      'event: ping\ndata: {"heartbeatMs":15000}\n\n' +
        'event: mark\ndata: null\nid: 1\n\n' +
        'event: chunk\ndata: {"n":2}\nid: 2\n\n' +
        'event: end\ndata: {}\n\n',
    );
    const refused = await post(`${url}/invoke`, { ...body, lastEventId: 'a\nb' });
    expect(refused.body.error.details[0].path).to.equal('lastEventId');
  });

  it('takes ids that fit on the wire only, and checks its items', async () => {
    expect(() => tracked('a\nevent: end')).to.throw(GatewayError, /printable ASCII/);
    expect(() => tracked('', 1)).to.throw(GatewayError);
    const { url } = await startGateway({
      app: echo,
      methods: {
        wrong: method({
          result: z.number(),
          handler: async function* () {
            yield tracked('1', 'one' as never);
          },
        }),
      },
    });
    expect(await failure(connectClient(url).stream('wrong').next())).to.include({ code: 'INTERNAL' });
  });
});
