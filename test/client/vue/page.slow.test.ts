import { expect } from 'chai';
import { createSSRApp, effectScope, nextTick, ref } from 'vue';
import { GATEWAY, useSession } from '../../../client/vue/index.js';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage } from '../../support/browser.js';
import { connectClient } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';
import { app, PIECES } from '../pieces.js';

const PAGE = `
import { createApp, h, ref } from 'vue';
import { createClient } from 'agent-session-gateway/client';
import { GATEWAY, useConnection, useSession } from 'agent-session-gateway/client/vue';
const textOf = ({ content }) => content.map((block) => block.text ?? '').join('');
globalThis.renders = { list: 0, answer: 0 };
globalThis.frames = 0;
const tick = () => { globalThis.frames += 1; requestAnimationFrame(tick); };
requestAnimationFrame(tick);
const id = globalThis.id = ref('a');
const chat = {
  setup() {
    const session = globalThis.session = useSession(id);
    const health = useConnection();
    const List = { setup: () => () => { globalThis.renders.list += 1; return h('ol', session.messages.value.map((m) => h('li', { key: m.id }, textOf(m)))); } };
    const Answer = { setup: () => () => { globalThis.renders.answer += 1; return h('p', session.run.value ? textOf(session.run.value.message) : ''); } };
    return () => [h('h1', session.status.value), h('h2', health.value), h(List), h(Answer)];
  },
};
const shown = globalThis.shown = ref(true);
createApp({ render: () => (shown.value ? h(chat) : h('b', 'gone')) })
  .provide(GATEWAY, globalThis.client = createClient({ baseUrl: '/agent' })).mount(document.body.appendChild(document.createElement('main')));
`;

describe('vue', () => {
  it('shows a session in a page: one change a frame, each part apart, another id, until it goes', async function () {
    needChromium(this);
    const url = await servePage(PAGE, { app });
    const { page, problems } = await openPage(url);
    const status = (wanted: string) =>
      page.waitForFunction((text) => document.querySelector('h1')?.textContent === text, wanted);
    const rows = () => page.$$eval('li', (all) => all.map(({ textContent }) => textContent));
    await status('ready');
    expect(await page.textContent('h2')).to.equal('online');
    await page.evaluate(async () => {
      Object.assign(globalThis, { renders: { list: 0, answer: 0 }, frames: 0 });
      await globalThis.session.send('long').result;
    });
    await status('ready');
    const { renders, frames } = await page.evaluate(() => ({
      renders: globalThis.renders,
      frames: (globalThis as any).frames as number,
    }));
    // The question, the answer.
    expect(renders.list).to.be.at.most(2);
    expect(renders.answer).to.be.at.most(frames + 4);
    const long = Array.from({ length: PIECES }, (_, at) => `${at} `).join('');
    expect(await rows()).to.deep.equal(['long', long]);

    await page.evaluate(() => {
      (globalThis as any).id.value = 'b';
    });
    await page.waitForFunction(() => document.querySelectorAll('li').length === 0);
    await page.evaluate(() => globalThis.session.send('Hello').result);
    await page.waitForFunction(() => document.querySelectorAll('li').length === 2);
    expect(await rows()).to.deep.equal(['Hello', 'You said Hello']);

    await page.evaluate(() => {
      (globalThis as any).shown.value = false;
    });
    await page.waitForSelector('b');
    await page.waitForFunction(() => globalThis.client.connection.state === 'closed');
    expect(problems).to.deep.equal([]);
  });

  it('follows in a scope of its own, and leaves with it', async () => {
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const host = createSSRApp({ render: () => null }).provide(GATEWAY, client);
    const scope = effectScope();
    const id = ref('a');
    const session = host.runWithContext(() => scope.run(() => useSession(id))!);
    await session.send('one').result;
    await nextTick();
    expect(session.messages.value).to.have.length(2);
    id.value = 'b';
    expect(session.messages.value).to.have.length(0);
    scope.stop();
    const closed = new Promise<void>((resolve) => {
      client.connection.subscribe((state) => state === 'closed' && resolve());
    });
    await closed;
  });
});
