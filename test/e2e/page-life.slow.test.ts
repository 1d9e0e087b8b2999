import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type Application, defineApp, type Gateway } from '../../server/index.js';
import { needChromium, openPage } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { gate } from '../support/gate.js';
import { type PageConfig, servePage } from './page-host.js';

declare global {
  var client: any;
  var shown: { readonly types: string[]; readonly texts: string[] };
  var states: string[];
}

/** A page that follows a session and tells what it saw. */
const PAGE = (options = '') => `
import { createClient } from 'agent-session-gateway/client';
globalThis.states = [];
addEventListener('pageshow', ({ persisted }) => { globalThis.persisted = persisted; });
globalThis.shown = { types: [], texts: [] };
const client = globalThis.client = createClient({ baseUrl: '/agent'${options} });
client.connection.subscribe((state) => globalThis.states.push(state));
(async () => {
  for await (const event of client.events('main', { from: 'earliest' })) {
    globalThis.shown.types.push(event.type);
    if (event.type === 'content_delta') globalThis.shown.texts.push(event.delta);
  }
})();
`;

async function open(app: Application, options = '', config: Partial<PageConfig> = {}) {
  let gateway!: Gateway;
  const connections = new Set<string>();
  const url = await servePage(PAGE(options), { app, ...config }, (it) => {
    gateway = it;
    it.on('client:connected', ({ connectionId }) => connections.add(connectionId));
    it.on('client:disconnected', ({ connectionId }) => connections.delete(connectionId));
  });
  const session = gateway.session('main', { anonymous: true });
  const proxy = await FaultProxy.start(url);
  return { session, connections, proxy, ...(await openPage(proxy.url)) };
}

/** A stream that falls silent is not missed by its heartbeats for a minute: something else has to say that the network is back. */
const PATIENT = { limits: { heartbeatMs: 60_000 } };

const echo = defineApp({
  async *run(turn) {
    yield turn.text;
  },
});

const isState = (page: Page, wanted: string) =>
  page.waitForFunction((state) => globalThis.client?.connection.state === state, wanted);
const hasTexts = (page: Page, many: number) =>
  page.waitForFunction((wanted) => globalThis.shown.texts.length >= wanted, many);
const seen = (page: Page) => page.evaluate(() => globalThis.shown);

/** Waits for a condition on this side. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(10);
}

describeDaily('the life of a page', 3, () => {
  before(function () {
    needChromium(this);
  });

  it('goes on where it was when the network is back, at once', async () => {
    const { page, session, proxy, problems } = await open(echo, '', PATIENT);
    await session.send('one').result;
    await hasTexts(page, 1);
    // Not closed: what was open is dead without a word.
    proxy.hush();
    await page.context().setOffline(true);
    await session.send('two').result;
    await session.send('three').result;
    await page.context().setOffline(false);
    await hasTexts(page, 3);
    const { texts, types } = await seen(page);
    expect(texts).to.deep.equal(['one', 'two', 'three']);
    expect(types).to.not.include('gap').and.not.include('snapshot');
    expect(problems).to.deep.equal([]);
  });

  it('sends what was written offline, once, when the network is back', async () => {
    const { page, proxy, problems } = await open(echo, '', PATIENT);
    await isState(page, 'open');
    proxy.hush();
    await page.context().setOffline(true);
    await page.evaluate(() => {
      (globalThis as any).run = globalThis.client.send('main', 'written offline');
    });
    await page.context().setOffline(false);
    expect(await page.evaluate(() => (globalThis as any).run.result)).to.include({ stopReason: 'end' });
    await hasTexts(page, 1);
    const { types } = await seen(page);
    expect(types.filter((type) => type === 'message_accepted')).to.have.length(1);
    expect(problems).to.deep.equal([]);
  });

  it('misses nothing while it is frozen', async () => {
    const { page, session, proxy, problems } = await open(echo, '', PATIENT);
    await isState(page, 'open');
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
    proxy.hush();
    for (const text of ['one', 'two', 'three']) await session.send(text).result;
    await devtools.send('Page.setWebLifecycleState', { state: 'active' });
    // Chromium tells hidden pages only that they were frozen, and headless ones are never hidden.
    await page.evaluate(() => document.dispatchEvent(new Event('resume')));
    await hasTexts(page, 3);
    const { texts, types } = await seen(page);
    expect(texts).to.deep.equal(['one', 'two', 'three']);
    expect(types).to.not.include('gap');
    expect(problems).to.deep.equal([]);
  });

  it('goes on where it was when one comes back to it, as the browser had kept it', async () => {
    const { page, session, proxy, problems } = await open(echo, '', PATIENT);
    await session.send('one').result;
    await hasTexts(page, 1);
    await page.goto(`${proxy.url}/agent/status`);
    proxy.hush();
    await session.send('two').result;
    await page.goBack({ waitUntil: 'commit' });
    await hasTexts(page, 2);
    expect((await seen(page)).texts).to.deep.equal(['one', 'two']);
    // Kept by the browser, connections and all: nothing was loaded anew.
    expect(await page.evaluate(() => (globalThis as any).persisted)).to.equal(true);
    expect(problems).to.deep.equal([]);
  });

  it('loses nothing to a main thread that is busy for seconds', async () => {
    const go = gate();
    const app = defineApp({
      async *run() {
        await go.passed;
        for (let at = 0; at < 300; at++) {
          yield `${at} `;
          await delay(5);
        }
      },
    });
    const { page, session, problems } = await open(app, '', { limits: { heartbeatMs: 500 } });
    const run = session.send('go');
    await isState(page, 'open');
    const blocked = page.evaluate(() => {
      const end = performance.now() + 4000;
      while (performance.now() < end);
    });
    go.open();
    await run.result;
    await blocked;
    await page.waitForFunction(() => globalThis.shown.types.includes('message_end'));
    const { texts, types } = await seen(page);
    expect(texts.join('')).to.equal(Array.from({ length: 300 }, (_, at) => `${at} `).join(''));
    expect(types).to.not.include('gap');
    expect(problems).to.deep.equal([]);
  });

  it('leaves room for a dozen tabs of one browser on HTTP/1.1: hidden ones let their stream go', async () => {
    const { page, session, connections, proxy } = await open(echo, ', hiddenMs: 300');
    const tabs = [page];
    for (let at = 1; at < 12; at++) {
      const tab = await page.context().newPage();
      tabs.push(tab);
      // Headless pages all think they are shown: the one in front is, the others are told that they are not.
      await tabs[at - 1]!.evaluate(() => {
        Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      });
      await isState(tabs[at - 1]!, 'paused');
      await tab.goto(proxy.url);
      await isState(tab, 'open');
    }
    await until(() => connections.size === 1);
    const last = tabs.at(-1)!;
    const { stopReason } = await last.evaluate(() => globalThis.client.send('main', 'from the last').result);
    expect(stopReason).to.equal('end');
    await session.send('from the host').result;
    await tabs[0]!.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await hasTexts(tabs[0]!, 2);
    const { texts, types } = await seen(tabs[0]!);
    expect(texts).to.deep.equal(['from the last', 'from the host']);
    expect(types).to.not.include('gap');
  });
});
