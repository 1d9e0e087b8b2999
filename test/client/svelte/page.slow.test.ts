import { expect } from 'chai';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage } from '../../support/browser.js';
import { app, PIECES } from '../pieces.js';
import { CHAT } from './chat.js';
import { svelte } from './compile.js';

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
});
