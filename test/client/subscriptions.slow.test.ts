import { expect } from 'chai';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import { tracked } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { WebSocket } from '../support/behind-proxy.js';
import { connectClient, failure } from '../support/client.js';
import { startGateway, TOKEN } from '../support/gateway.js';
import { socketDirectory } from '../support/socket-directory.js';
import { until } from '../support/until.js';
import { DOORS, Feed, subscribed } from './feed-doors.js';

const numbers = (to: number) => Array.from({ length: to }, (_, at) => ({ n: at + 1 }));

for (const [door, open] of Object.entries(DOORS)) {
  describe(`a subscription over ${door}`, () => {
    it('goes on after its last item whenever it is cut, and yields each once', async () => {
      const { feed, cut, items } = await subscribed(open, 30);
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
  });
}

describe('a subscription', () => {
  for (const transport of ['sse', 'websocket'] as const) {
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
});
