import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import { z } from 'zod';
import { type Client, createClient } from '../../client/index.js';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import { createGateway, type GatewayConfig, GatewayError, method, tracked } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { behindProxy, WebSocket } from '../support/behind-proxy.js';
import { collect, connectClient, failure } from '../support/client.js';
import { CuttingSocket } from '../support/cutting-socket.js';
import { jsonHeaders, post, startGateway, TestLogger, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { until } from '../support/until.js';

/** Numbers from 1, which a method tells from the place of its caller and goes on telling. */
class Feed {
  head = 0;
  /** Where each call of the method began. */
  readonly calls: (string | undefined)[] = [];
  readonly #news = new EventEmitter().setMaxListeners(0);

  push(): void {
    this.head += 1;
    this.#news.emit('news');
  }

  /** Tells its place first, so that a caller who was told nothing yet is resumed too. */
  readonly methods = {
    feed: method({
      schema: z.object({ to: z.number() }),
      result: z.object({ n: z.number() }),
      handler: (params, { lastEventId, signal }) => this.#tell(params.to, lastEventId, signal),
      stream: true,
    }),
    plain: method({ stream: true, handler: (_params: void, { signal }) => this.#plain(signal) }),
  };

  async *#tell(to: number, lastEventId: string | undefined, signal: AbortSignal) {
    this.calls.push(lastEventId);
    let at = Number(lastEventId ?? 0);
    yield tracked(String(at));
    while (at < to) {
      while (at < Math.min(this.head, to)) yield tracked(String(++at), { n: at });
      if (at < to) await once(this.#news, 'news', { signal });
    }
  }

  async *#plain(signal: AbortSignal): AsyncGenerator<number> {
    yield 1;
    await once(this.#news, 'news', { signal });
    yield 2;
  }
}

interface Line {
  readonly client: Client;
  cut(): void;
}

const DOORS: Readonly<Record<string, (config: GatewayConfig<any, any, any>) => Promise<Line>>> = {
  async sse(config) {
    const { client, proxy } = await behindProxy('sse', config);
    return { client, cut: () => proxy.cut() };
  },
  async websocket(config) {
    const { client, proxy } = await behindProxy('websocket', config);
    return { client, cut: () => proxy.cut() };
  },
  async 'a Unix socket'(config) {
    const socketPath = `${socketDirectory()}/gateway.sock`;
    const logger = new TestLogger();
    const gateway = createGateway({ embedded: true, socketPath, logger, app: echo, ...config });
    closeLater(gateway, (it) => it.close());
    await gateway.start();
    const proxy = await CuttingSocket.start(socketPath);
    const transport = createUnixSocketClientTransport({ socketPath: proxy.path });
    const client = closeLater(createClient({ transport }), (it) => it.disconnect());
    return { client, cut: () => proxy.cutAll() };
  },
  async 'gateway.fetch'(config) {
    const logger = new TestLogger();
    const gateway = createGateway({ embedded: true, logger, app: echo, ...config, limits: { drainMs: 0 } });
    closeLater(gateway, (it) => it.close());
    let lines = new AbortController();
    const fetch = (async (url: string, init: RequestInit) => {
      const response = await gateway.fetch(new Request(url, init));
      const { signal } = lines;
      const { readable, writable } = new TransformStream();
      response.body?.pipeTo(writable, { signal }).catch(() => {});
      return new Response(response.body && readable, response);
    }) as typeof globalThis.fetch;
    const client = createClient({ baseUrl: 'http://gateway.test', fetch });
    return {
      client: closeLater(client, (it) => it.disconnect()),
      cut: () => {
        lines.abort(new Error('cut'));
        lines = new AbortController();
      },
    };
  },
};

const numbers = (to: number) => Array.from({ length: to }, (_, at) => ({ n: at + 1 }));

for (const [door, open] of Object.entries(DOORS)) {
  describe(`a subscription over ${door}`, () => {
    it('goes on after its last item whenever it is cut, and yields each once', async () => {
      const feed = new Feed();
      const { client, cut } = await open({ methods: feed.methods });
      const items = client.stream('feed', { to: 30 });
      const seen: unknown[] = [];
      for (let n = 1; n <= 30; n++) {
        const next = items.next();
        // Now before the item, now after it, now with it on its way.
        if (n % 10 === 1) cut();
        feed.push();
        if (n % 10 === 4) cut();
        seen.push((await next).value);
        expect(items.lastEventId).to.equal(String(n));
        if (n % 10 === 7) cut();
      }
      expect(seen).to.deep.equal(numbers(30));
      expect((await items.next()).done).to.equal(true);
      expect(feed.calls.length).to.be.above(3);
    });

    it('is resumed before it had any item, and fails without a place', async () => {
      const feed = new Feed();
      const { client, cut } = await open({ methods: feed.methods });
      const items = client.stream('feed', { to: 1 });
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

    it(`outlives its token, and ends where the new one is refused (${transport})`, async () => {
      const feed = new Feed();
      const good = new Map<string, number>();
      let issued = 0;
      const token = () => {
        if (issued < 3) good.set(`t${++issued}`, Date.now() + 1000);
        return `t${issued}`;
      };
      const { url } = await startGateway({
        app: echo,
        methods: feed.methods,
        auth: {
          type: 'custom',
          cookies: false,
          validate: async (shown = '') => ({
            valid: (good.get(shown) ?? 0) > Date.now(),
            user: { id: 'ann' },
            expiresAt: good.get(shown),
          }),
        },
        limits: { heartbeatMs: 100 },
      });
      const client = connectClient(url, { transport, WebSocket, token });
      const items = client.stream('feed', { to: 9 });
      feed.push();
      expect((await items.next()).value).to.deep.equal({ n: 1 });
      const second = items.next();
      await until(() => issued >= 2);
      feed.push();
      expect((await second).value).to.deep.equal({ n: 2 });
      expect(await failure(items.next())).to.include({ code: 'UNAUTHENTICATED' });
    });
  }

  for (const transport of ['sse', 'websocket', 'a Unix socket'] as const) {
    it(`is not made further ahead of a slow reader than buffers go (${transport})`, async () => {
      let made = 0;
      const body = 'x'.repeat(1024);
      const socketPath = `${socketDirectory()}/gateway.sock`;
      const { url } = await startGateway({
        socketPath,
        app: echo,
        methods: {
          async *flood() {
            for (;;) yield tracked(String(++made), body);
          },
        },
      });
      const over =
        transport === 'a Unix socket'
          ? createUnixSocketClientTransport({ socketPath, token: TOKEN })
          : transport;
      const items = connectClient(url, { transport: over, WebSocket }).stream('flood');
      await items.next();
      // It comes to rest by itself, or never.
      for (let before = -1; before !== made; ) {
        before = made;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      if (transport !== 'sse') expect(made).to.be.below(200);
      const rest = made + 100;
      for (let n = 2; n <= rest; n++) {
        await items.next();
        expect(items.lastEventId).to.equal(String(n));
      }
      await items.return?.();
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
        'event: mark\nid: 1\ndata: null\n\n' +
        'event: chunk\nid: 2\ndata: {"n":2}\n\n' +
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
