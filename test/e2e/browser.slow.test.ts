import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { type Application, defineApp } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { BROWSERS } from '../support/browser.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { todays } from '../support/daily.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { servePage } from './page-host.js';

const PIECES = 240;
const ALL = (index: number): string => `${index} é 漢字 👩‍👩‍👧 `;

/** What the pages leave for the test. */
declare global {
  var seen: any[];
  var ready: boolean;
  var finished: boolean;
  var runText: string;
}

/** Streams many pieces; at some of them it calls out, so that the test cuts in the middle for certain. */
function longApp(at: readonly number[], cut: () => void): Application {
  return defineApp({
    async *run(turn) {
      for (let index = 0; index < PIECES; index++) {
        if (at.includes(index)) cut();
        await delay(3, undefined, { signal: turn.signal });
        yield ALL(index);
      }
    },
  });
}

const ANSWER = Array.from({ length: PIECES }, (_, index) => ALL(index)).join('');

/** The session's log, read without a cut. */
async function readLog(
  url: string,
  sessionId = 'main',
): Promise<{ type: string; [field: string]: unknown }[]> {
  const stream = await openStream(`${url}/agent/events?sessionId=${sessionId}&from=earliest`);
  await stream.until(({ event }) => event === 'message_end');
  stream.close();
  return stream.logged.map(({ event, data }) => ({ ...data, type: event }));
}

const CLIENT_PAGE = `
import { createClient } from 'agent-session-gateway/client';
globalThis.seen = [];
const client = createClient({ baseUrl: '/agent' });
(async () => {
  for await (const event of client.events('main', { from: 'earliest' })) {
    globalThis.seen.push(event);
    if (event.type === 'message_end') break;
  }
  globalThis.finished = true;
})();
`;

const SEND_PAGE = `
import { createClient } from 'agent-session-gateway/client';
const client = createClient({ baseUrl: '/agent' });
globalThis.runText = '';
(async () => {
  for await (const text of client.send('main', 'go').text) globalThis.runText += text;
  globalThis.finished = true;
})();
`;

const NATIVE_PAGE = (query: string) => `
import { EventReader } from 'agent-session-gateway/protocol';
globalThis.seen = [];
const reader = new EventReader();
let open = ${query.split('sessionId=').length - 1};
const source = new EventSource('/agent/events?${query}');
source.addEventListener('connected', ({ data }) => {
  reader.read('connected', JSON.parse(data));
  globalThis.ready = true;
});
for (const type of ['message_accepted', 'message_start', 'content_delta', 'message_end', 'gap', 'snapshot']) {
  source.addEventListener(type, ({ data, lastEventId }) => {
    globalThis.seen.push(reader.read(type, JSON.parse(data), lastEventId));
    if (type === 'message_end') open -= 1;
    if (open === 0) globalThis.finished = true;
  });
}
`;

/** Each event once, in the order of its first arrival. */
function once(events: readonly any[]): any[] {
  return [...new Map(events.map((event) => [event.cursor, event])).values()];
}

for (const { name, need, open } of todays(BROWSERS, BROWSERS.length))
  describe(`a real browser (${name})`, () => {
    before(function () {
      need(this);
    });

    it('reads through cuts the same stream as the client in Node, equal and complete', async () => {
      const proxies: CuttingProxy[] = [];
      const url = await servePage(CLIENT_PAGE, {
        app: longApp([60, 130, 200], () => {
          for (const proxy of proxies) proxy.cutAll();
        }),
      });
      const forNode = await CuttingProxy.start(url);
      const forBrowser = await CuttingProxy.start(url);
      proxies.push(forNode, forBrowser);
      const { page, problems } = await open(forBrowser.url);
      await page.waitForFunction(() => Array.isArray(globalThis.seen));
      // Besides the certain cuts, the streams that follow them break again at odd bytes.
      forNode.cuts.push(1777, 3001, 555);
      forBrowser.cuts.push(1333, 2999, 777);

      const client = closeLater(createClient({ baseUrl: `${forNode.url}/agent` }), (it) => it.disconnect());
      const run = client.send('main', 'go');
      const inNode: GatewayEvent[] = [];
      for await (const event of client.events('main', { from: 'earliest' })) {
        inNode.push(event);
        if (event.type === 'message_end') break;
      }
      await page.waitForFunction(() => globalThis.finished === true);
      const inBrowser = await page.evaluate(() => globalThis.seen);

      const log = await readLog(url);
      expect(log.filter(({ type }) => type === 'content_delta').length).to.equal(PIECES);
      expect(inNode).to.deep.equal(log);
      expect(inBrowser).to.deep.equal(log);
      expect((await run.result).stopReason).to.equal('end');
      expect(forNode.cut).to.be.at.least(2);
      expect(forBrowser.cut).to.be.at.least(2);
      expect(problems).to.deep.equal([]);
    });

    it('sends once through cuts and reads the whole answer', async () => {
      let proxy: CuttingProxy | undefined;
      const url = await servePage(SEND_PAGE, { app: longApp([20, 150], () => proxy?.cutAll()) });
      proxy = await CuttingProxy.start(url);
      const { page } = await open(proxy.url);
      await page.waitForFunction(() => globalThis.finished === true);
      expect(await page.evaluate(() => globalThis.runText)).to.equal(ANSWER);
      const log = await readLog(url);
      expect(log.filter(({ type }) => type === 'message_accepted').length).to.equal(1);
    });

    it('resumes a native EventSource of one session', async () => {
      let proxy: CuttingProxy | undefined;
      const url = await servePage(NATIVE_PAGE('sessionId=main'), {
        app: longApp([70], () => proxy?.cutAll()),
      });
      proxy = await CuttingProxy.start(url);
      const { page } = await open(proxy.url);
      // Nothing but its Last-Event-ID can bring back what it misses: it listens from now on.
      await page.waitForFunction(() => globalThis.ready === true);
      const client = closeLater(createClient({ baseUrl: `${url}/agent` }), (it) => it.disconnect());
      await client.send('main', 'go').result;
      await page.waitForFunction(() => globalThis.finished === true);
      const seen = await page.evaluate(() => globalThis.seen);
      expect(seen).to.deep.equal(await readLog(url));
    });

    it('resumes a native EventSource of several sessions', async () => {
      let proxy: CuttingProxy | undefined;
      const url = await servePage(NATIVE_PAGE('sessionId=a&sessionId=b'), {
        app: longApp([180], () => proxy?.cutAll()),
      });
      proxy = await CuttingProxy.start(url);
      const { page } = await open(proxy.url);
      await page.waitForFunction(() => globalThis.ready === true);
      const client = closeLater(createClient({ baseUrl: `${url}/agent` }), (it) => it.disconnect());
      await Promise.all([client.send('a', 'go').result, client.send('b', 'go').result]);
      await page.waitForFunction(() => globalThis.finished === true);
      const seen = once(await page.evaluate(() => globalThis.seen));
      for (const id of ['a', 'b']) {
        expect(seen.filter(({ sessionId }) => sessionId === id)).to.deep.equal(await readLog(url, id));
      }
    });

    it('tells the test of an error on the page', async () => {
      const { page, problems } = await open(
        await servePage('globalThis.slip = () => void Promise.reject(new Error("a slip"));', {
          app: longApp([], () => {}),
        }),
      );
      await page.waitForFunction(() => 'slip' in globalThis);
      await page.evaluate(() => (globalThis as any).slip());
      await until(async () => {
        await page.evaluate(() => {});
        return problems.length > 0;
      });
      expect(problems[0]).to.include('a slip');
    });
  });
