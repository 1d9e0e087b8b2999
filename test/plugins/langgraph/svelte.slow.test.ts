import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { Plugin } from 'esbuild';
import { compileModule } from 'svelte/compiler';
import { compiling } from '../../client/svelte/compile.js';
import { needChromium } from '../../support/browser.js';
import { actor } from '../actor.js';
import { openChat } from './browser-page.js';

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
    const script = `import { mount } from 'svelte'; import Chat from 'chat.svelte'; mount(Chat, { target: document.body });`;
    const plugins = [runes, ...compiling({ 'chat.svelte': CHAT })('client')];
    const { gateway, page, problems, texts } = await openChat(script, { app, plugins });
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
