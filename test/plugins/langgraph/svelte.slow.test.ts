import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { Plugin } from 'esbuild';
import { compileModule } from 'svelte/compiler';
import type { Gateway } from '../../../server/index.js';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { compiling } from '../../client/svelte/compile.js';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage } from '../../support/browser.js';
import { actor } from '../actor.js';

const CHAT = `<script>
  import { useStream } from '@langchain/svelte';
  const stream = useStream({ apiUrl: location.origin + '/agent/langgraph', assistantId: 'default', threadId: 'main' });
  Object.assign(globalThis, { stream });
</script>
{#each stream.messages as message (message.id)}<p>{message.getType()}: {message.text}</p>{/each}
{#if stream.interrupt}<b>{stream.interrupt.value.action_requests[0].name}</b>{/if}`;

/** What a bundler does for packages that are written in runes. */
const runes: Plugin = {
  name: 'runes',
  setup({ onLoad }) {
    onLoad({ filter: /\.svelte\.js$/ }, ({ path }) => {
      const { js } = compileModule(readFileSync(path, 'utf8'), { filename: path, generate: 'client' });
      return { contents: js.code, resolveDir: dirname(path) };
    });
  },
};

describe("a page of Svelte's useStream", () => {
  before(function () {
    needChromium(this);
  });

  it('says, asks, approves after a reload, and shows each answer once', async () => {
    const { app, effects } = actor();
    let gateway!: Gateway<any, any, any>;
    const script = `import { mount } from 'svelte'; import Chat from 'chat.svelte'; mount(Chat, { target: document.body });`;
    const plugins = [runes, ...compiling({ 'chat.svelte': CHAT })('client')];
    const url = await servePage(script, { app, plugins }, (it) => {
      gateway = it;
      it.use(langGraphPlugin());
    });
    const { page, problems } = await openPage(url);
    const texts = (wanted: readonly string[]) =>
      page.waitForFunction(
        (all) =>
          JSON.stringify([...document.querySelectorAll('p')].map((p) => p.textContent)) ===
          JSON.stringify(all),
        wanted,
      );
    const say = (content: string) =>
      page.evaluate((text) => {
        (globalThis as any).stream.submit({ messages: [{ type: 'human', content: text }] });
      }, content);
    const first = ['human: hello', 'ai: hello '];
    await say('hello');
    await texts(first);
    await say('now pay done');
    await page.waitForFunction(() => document.querySelector('b')?.textContent === 'pay');
    await page.reload();
    await texts([...first, 'human: now pay done', 'ai: now ']);
    expect(effects).to.deep.equal([]);
    await page.waitForFunction(() => document.querySelector('b')?.textContent === 'pay');
    await page.evaluate(() => {
      (globalThis as any).stream.respond({ decisions: [{ type: 'approve' }] });
    });
    const paid = ['tool: {"did":"pay","n":1}', 'ai: [pay: {"did":"pay","n":1}] done '];
    await texts([...first, 'human: now pay done', 'ai: now ', ...paid]);
    expect(effects).to.deep.equal(['pay']);
    const { messages } = await gateway.session('main', { anonymous: true }).history();
    expect(messages).to.have.length(4);
    expect(problems).to.deep.equal([]);
  });
});
