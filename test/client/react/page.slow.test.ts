import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createElement as h } from 'react';
import { renderToString } from 'react-dom/server';
import { createClient } from '../../../client/index.js';
import { GatewayProvider, useSession } from '../../../client/react/index.js';
import { defineApp, type Gateway } from '../../../server/index.js';
import { type PageConfig, servePage } from '../../e2e/page-host.js';
import { needChromium, openPage } from '../../support/browser.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { describeDaily } from '../../support/daily.js';
import { gate } from '../../support/gate.js';
import { CHAT, PRELUDE } from './pages.js';

declare global {
  var renders: Record<string, number>;
  var session: any;
  var client: any;
  var hydrationErrors: string[];
}

/** Opens a page of a script, in front of a gateway that counts its connections. */
async function open(script: string, config: PageConfig) {
  let gateway!: Gateway;
  const connections: string[] = [];
  const url = await servePage(PRELUDE + CHAT + script, config, (it) => {
    gateway = it;
    it.on('client:connected', ({ connectionId }) => connections.push(connectionId));
  });
  return { gateway, connections, url, ...(await openPage(url)) };
}

const status = (page: Page, wanted: string) =>
  page.waitForFunction((text) => document.querySelector('h1')?.textContent === text, wanted);
const rows = (page: Page) =>
  page.$$eval('li', (all) => all.map((row) => `${(row as HTMLElement).dataset.role}: ${row.textContent}`));

const echo = defineApp({
  async *run(turn) {
    yield `You said ${turn.text}`;
  },
});

describeDaily('react in a page', 3, () => {
  before(function () {
    needChromium(this);
  });

  it('renders growing text at most once a frame, and a row only when its message changes', async () => {
    const PIECES = 400;
    const app = defineApp({
      async *run(turn) {
        if (turn.text === 'short') return yield 'first answer';
        for (let at = 0; at < PIECES; at++) {
          await delay(5, undefined, { signal: turn.signal });
          yield `${at} `;
        }
      },
    });
    const script = `
      globalThis.frames = 0;
      const tick = () => { globalThis.frames += 1; requestAnimationFrame(tick); };
      requestAnimationFrame(tick);
      mount(h(Chat));`;
    const { page, problems } = await open(script, { app });
    await status(page, 'ready');
    await page.evaluate(() => globalThis.session.send('short').result);
    await status(page, 'ready');
    await page.evaluate(() => {
      globalThis.renders = {};
      (globalThis as any).frames = 0;
      return globalThis.session.send('long').result;
    });
    await status(page, 'ready');
    const { renders, frames } = await page.evaluate(() => ({
      renders: globalThis.renders,
      frames: (globalThis as any).frames as number,
    }));
    // Besides the frames: the draft, accepted, shown, begun, ended, and the end of the send.
    expect(renders.chat).to.be.at.most(frames + 8);
    expect(renders.chat).to.be.below(PIECES);
    expect(renders['row user short']).to.equal(undefined);
    expect(renders['row assistant first an']).to.equal(undefined);
    // Drafted here, then as the gateway has it.
    expect(renders['row user long']).to.equal(2);
    expect((await rows(page)).at(-1)).to.equal(
      `assistant: ${Array.from({ length: PIECES }, (_, at) => `${at} `).join('')}`,
    );
    expect(problems).to.deep.equal([]);
  });

  it('keeps one row for a message, from its draft to the log', async () => {
    const begin = gate();
    const app = defineApp({
      async *run(turn) {
        await begin.passed;
        yield `You said ${turn.text}`;
      },
    });
    const { page } = await open('mount(h(Chat));', { app });
    await status(page, 'ready');
    // Two of them: the second waits in the queue.
    const ids = await page.evaluate(async () => {
      const runs = ['one', 'two'].map((text) => globalThis.session.send(text));
      await new Promise((resolve) => setTimeout(resolve));
      const drafts = [...document.querySelectorAll('li')];
      (globalThis as any).drafts = drafts;
      await Promise.all(runs.map(({ accepted }) => accepted));
      return drafts.map(({ id }) => id);
    });
    expect(ids).to.have.length(2);
    begin.open();
    await page.waitForFunction(() => document.querySelectorAll('li').length === 4);
    await status(page, 'ready');
    const same = await page.evaluate(() =>
      (globalThis as any).drafts.every((row: Element) => document.getElementById(row.id) === row),
    );
    expect(same).to.equal(true);
    expect(await rows(page)).to.deep.equal([
      'user: one',
      'assistant: You said one',
      'user: two',
      'assistant: You said two',
    ]);
  });

  it('opens one connection under StrictMode, and ends no run when it goes', async () => {
    const begin = gate();
    const app = defineApp({
      async *run() {
        await begin.passed;
        yield 'done';
      },
    });
    const script = `
      function Toggled() {
        const [shown, show] = useState(true);
        globalThis.show = show;
        return shown ? h('div', null, h(Chat), h(Chat)) : h('p', null, 'gone');
      }
      mount(h(StrictMode, null, h(Toggled)));`;
    const { page, connections, gateway, problems } = await open(script, { app });
    await status(page, 'ready');
    await page.evaluate(() => globalThis.session.send('go').accepted);
    await status(page, 'running');
    await page.evaluate(() => (globalThis as any).show(false));
    await page.waitForSelector('p');
    await page.evaluate(() => (globalThis as any).show(true));
    await status(page, 'running');
    const ended = new Promise((resolve) => gateway.on('run:ended', resolve));
    begin.open();
    expect(await ended).to.have.property('stopReason', 'end');
    await status(page, 'ready');
    expect(await rows(page)).to.deep.equal(['user: go', 'assistant: done', 'user: go', 'assistant: done']);
    expect(connections).to.have.length(1);
    expect(problems).to.deep.equal([]);
  });

  it('goes on from what a server rendered, without a gap and without another rendering', async () => {
    const more = gate();
    const half = gate();
    const app = defineApp({
      async *run() {
        yield 'before ';
        half.open();
        await more.passed;
        yield 'between ';
        yield 'after';
      },
    });
    const Chat = ({ initial }: { initial: any }) => {
      const { messages, run, status } = useSession('main', { initial });
      const text = [...messages, ...(run ? [run.message] : [])]
        .map(({ content }) => content.map((block) => ('text' in block ? block.text : '')).join(''))
        .join('|');
      return h('p', null, `${status}: ${text}`);
    };
    const script = `
      const { initial } = JSON.parse(document.querySelector('#state').textContent);
      function Page() {
        const { messages, run, status } = useSession('main', { initial });
        const text = [...messages, ...(run ? [run.message] : [])].map(textOf).join('|');
        (globalThis.texts ??= []).push(text);
        return h('p', null, status + ': ' + text);
      }
      hydrate(h(StrictMode, null, h(Page)));`;
    const asked: string[] = [];
    const url = await servePage(PRELUDE + script, {
      app,
      body: async (gateway) => {
        const base = asked[0]!;
        const reading = createClient({ baseUrl: `${base}/agent` });
        const session = reading.session('main');
        session.send('go');
        await half.passed;
        let initial = await session.state();
        while (!initial.run?.message.content.length) initial = await session.state();
        reading.disconnect();
        // What happens while the page is on its way.
        more.open();
        while ((await gateway.session('main', { anonymous: true }).status()).status !== 'idle')
          await delay(5);
        const html = renderToString(
          h(GatewayProvider, { client: createClient({ baseUrl: base }) }, h(Chat, { initial })),
        );
        return `<div id="root">${html}</div><script type="application/json" id="state">${JSON.stringify({ initial })}</script>`;
      },
    });
    asked.push(url);
    const { page, problems } = await openPage(url);
    await page.waitForFunction(() => document.querySelector('#root')?.textContent?.startsWith('ready'));
    expect(await page.textContent('#root')).to.equal('ready: go|before between after');
    const [first] = await page.evaluate(() => (globalThis as any).texts);
    expect(first).to.equal('go|before ');
    expect(await page.evaluate(() => globalThis.hydrationErrors)).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it('shows what the log holds, wherever the connection is cut', async () => {
    let proxy: CuttingProxy | undefined;
    const app = defineApp({
      async *run(turn) {
        for (let at = 0; at < 60; at++) {
          if (at % 20 === 7) proxy?.cutAll();
          await delay(4, undefined, { signal: turn.signal });
          yield `${at} é 漢字 `;
        }
      },
    });
    const url = await servePage(`${PRELUDE + CHAT}mount(h(StrictMode, null, h(Chat)));`, { app });
    proxy = await CuttingProxy.start(url);
    const { page, problems } = await openPage(proxy.url);
    await status(page, 'ready');
    proxy.cuts.push(300, 700, 411, 1500, 987, 2222, 333);
    await page.evaluate(() => globalThis.session.send('go').result);
    // The outcome has a way of its own, and may be here before the link is there again that shows the rest.
    await page.waitForFunction(() => document.body.textContent?.includes('59 é 漢字'));
    await status(page, 'ready');
    expect(proxy.cut).to.be.at.least(3);
    const text = Array.from({ length: 60 }, (_, at) => `${at} é 漢字 `).join('');
    expect(await rows(page)).to.deep.equal(['user: go', `assistant: ${text}`]);
    expect(problems).to.deep.equal([]);
  });

  it('renders a selection only when it changes', async () => {
    const script = `
      function Count() {
        count('count');
        const { roles } = useSession('main', {
          select: ({ messages }) => ({ roles: messages.map(({ role }) => role).join() }),
          isEqual: (a, b) => a.roles === b.roles,
        });
        return h('b', null, roles);
      }
      mount(h('div', null, h(Chat), h(Count)));`;
    const { page, problems } = await open(script, { app: echo });
    await status(page, 'ready');
    await page.evaluate(() => globalThis.session.send('Hello').result);
    await page.waitForFunction(() => document.querySelector('b')?.textContent === 'user,assistant');
    const { count, chat } = await page.evaluate(() => globalThis.renders);
    // Nothing, the question, the answer: at most, for what arrives together is rendered together.
    expect(count).to.be.at.most(3);
    expect(chat).to.be.above(count!);
    expect(problems).to.deep.equal([]);
  });

  it('aborts the run that is shown, and one that is not shown yet', async () => {
    const app = defineApp({
      async *run(turn) {
        yield 'begun';
        await delay(60_000, undefined, { signal: turn.signal });
      },
    });
    const { page } = await open('mount(h(Chat));', { app });
    await status(page, 'ready');
    const first = await page.evaluate(async () => {
      const run = globalThis.session.send('one');
      const aborted = await globalThis.session.abort();
      return { ...aborted, ...(await run.result) };
    });
    expect(first).to.include({ aborted: true, stopReason: 'aborted' });
    await status(page, 'ready');
    const second = await page.evaluate(async () => {
      const run = globalThis.session.send('two');
      for await (const text of run.text) if (text === 'begun') break;
      const aborted = await globalThis.session.abort({ reason: 'enough' });
      return { ...aborted, ...(await run.result) };
    });
    expect(second).to.include({ aborted: true, stopReason: 'aborted' });
    await status(page, 'ready');
    expect(await page.evaluate(() => globalThis.session.abort())).to.deep.equal({ aborted: false });
  });

  it('keeps a send that failed, with its error, and sends it again when asked', async () => {
    const { page } = await open('mount(h(Chat));', { app: echo });
    await status(page, 'ready');
    await page.route('**/agent/send', (route) =>
      route.fulfill({ status: 422, json: { error: { code: 'INVALID_PARAMS', message: 'not this' } } }),
    );
    await page.evaluate(() => globalThis.session.send('Hello').result.catch(() => {}));
    await page.waitForFunction(() => globalThis.session.sending[0]?.status === 'failed');
    expect(await rows(page)).to.deep.equal(['user: Hello']);
    const id = await page.getAttribute('li', 'id');
    expect(await page.evaluate(() => globalThis.session.sending[0].error.message)).to.equal('not this');
    await page.unroute('**/agent/send');
    await page.evaluate(() => globalThis.session.sending[0].retry());
    await page.waitForFunction(() => document.querySelectorAll('li').length === 2);
    expect(await page.getAttribute('li', 'id')).to.equal(id);
    await status(page, 'ready');
    expect(await rows(page)).to.deep.equal(['user: Hello', 'assistant: You said Hello']);
  });
});
