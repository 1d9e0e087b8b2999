import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { liveConnection, liveSession } from '../../../client/svelte/index.js';
import { defineApp } from '../../../server/index.js';
import { initialState } from '../../../shared/fold.js';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage } from '../../support/browser.js';
import { renderOnServer, svelte } from './compile.js';

const PIECES = 200;
const app = defineApp({
  async *run(turn) {
    if (turn.text !== 'long') return yield `You said ${turn.text}`;
    for (let at = 0; at < PIECES; at++) {
      await delay(5, undefined, { signal: turn.signal });
      yield `${at} `;
    }
  },
});

/** Runes in one half, a store in the other. */
const CHAT = `<script>
  import { liveConnection, liveSession } from 'agent-session-gateway/client/svelte';
  let { client, id, initial } = $props();
  const chat = $derived(liveSession(client, id, { initial }));
  const store = liveSession(client, 'a');
  const health = liveConnection(client);
  const answer = $derived.by(() => { globalThis.runs = (globalThis.runs ?? 0) + 1; return chat.current.run?.message.content[0]?.text ?? ''; });
  $effect(() => { globalThis.session = chat; });
</script>
<h1>{chat.current.status}</h1><h2>{health.current}</h2><h3>{$store.messages.length}</h3>
<ol>{#each chat.current.messages as message (message.id)}<li>{message.content[0].text}</li>{/each}</ol><p>{answer}</p>`;

const PAGE = `<script>
  import { createClient } from 'agent-session-gateway/client';
  import Chat from 'chat.svelte';
  let id = $state('a');
  let shown = $state(true);
  const client = globalThis.client = createClient({ baseUrl: '/agent' });
  globalThis.go = (to) => { id = to; };
  globalThis.hide = () => { shown = false; };
</script>
{#if shown}<Chat {client} {id} />{:else}<b>gone</b>{/if}`;

describe('svelte', () => {
  it('shows a session in a page: one change a frame, another id, until it goes', async function () {
    needChromium(this);
    const script = `import { mount } from 'svelte';
      import Page from 'page.svelte';
      globalThis.frames = 0;
      const tick = () => { globalThis.frames += 1; requestAnimationFrame(tick); };
      requestAnimationFrame(tick);
      mount(Page, { target: document.body.appendChild(document.createElement('main')) });`;
    const plugins = [svelte({ 'page.svelte': PAGE, 'chat.svelte': CHAT }, 'client')];
    const { page, problems } = await openPage(await servePage(script, { app, plugins }));
    const status = (wanted: string) =>
      page.waitForFunction((text) => document.querySelector('h1')?.textContent === text, wanted);
    const rows = () => page.$$eval('li', (all) => all.map(({ textContent }) => textContent));
    await status('ready');
    expect(await page.textContent('h2')).to.equal('online');
    await page.evaluate(async () => {
      Object.assign(globalThis, { runs: 0, frames: 0 });
      await globalThis.session.send('long').result;
    });
    await status('ready');
    const { runs, frames } = await page.evaluate(() => {
      const { runs, frames } = globalThis as any;
      return { runs, frames } as Record<string, number>;
    });
    expect(runs).to.be.at.most(frames! + 8);
    const long = Array.from({ length: PIECES }, (_, at) => `${at} `).join('');
    expect(await rows()).to.deep.equal(['long', long]);
    await page.waitForFunction(() => document.querySelector('h3')?.textContent === '2');

    await page.evaluate(() => (globalThis as any).go('b'));
    await page.waitForFunction(() => document.querySelectorAll('li').length === 0);
    await page.evaluate(() => globalThis.session.send('Hello').result);
    await page.waitForFunction(() => document.querySelectorAll('li').length === 2);
    expect(await rows()).to.deep.equal(['Hello', 'You said Hello']);
    expect(await page.textContent('h3')).to.equal('2');
    await page.evaluate(async () => {
      const { session } = globalThis;
      await session.edit(session.current.messages[0].id, 'Hi').result;
      await session.regenerate().result;
      await session.fork('c');
      await session.move({ version: session.current.messages[0].versions[0] });
    });
    await page.waitForFunction(() => document.querySelector('li')?.textContent === 'Hello');
    expect(await rows()).to.deep.equal(['Hello', 'You said Hello']);
    await page.evaluate(() => (globalThis as any).go('c'));
    await page.waitForFunction(() => document.querySelector('li')?.textContent === 'Hi');
    expect(await rows()).to.deep.equal(['Hi', 'You said Hi']);

    await page.evaluate(() => (globalThis as any).hide());
    await page.waitForSelector('b');
    await page.waitForFunction(() => globalThis.client.connection.state === 'closed');
    expect(problems).to.deep.equal([]);
  });

  it('renders on a server what it is given, and asks nobody', async () => {
    const asked: unknown[] = [];
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      fetch: async (input) => {
        asked.push(input);
        throw new TypeError('asked');
      },
    });
    const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'Hi' }], createdAt: 1 } as const;
    const initial = { ...initialState, cursor: 'AAAAAAAAAAA.1.4', messages: [message] };
    const html = await renderOnServer({ 'chat.svelte': CHAT }, 'chat.svelte', {
      client,
      id: 'main',
      initial,
    });
    expect(html.replace(/<!--.*?-->/g, '')).to.equal(
      '<h1>ready</h1><h2>online</h2><h3>0</h3> <ol><li>Hi</li></ol><p></p>',
    );
    const values: string[] = [];
    liveSession(client, 'main').subscribe(({ status }) => values.push(status))();
    liveConnection(client).subscribe((health) => values.push(health))();
    expect(values).to.deep.equal(['loading', 'online']);
    expect(asked).to.deep.equal([]);
    expect(client.connection.state).to.equal('closed');
  });
});
