import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { createSSRApp, effectScope, h, nextTick, ref, watch } from 'vue';
import { renderToString } from 'vue/server-renderer';
import { createClient } from '../../../client/index.js';
import { GATEWAY, useConnection, useGateway, useSession } from '../../../client/vue/index.js';
import { defineApp } from '../../../server/index.js';
import { initialState } from '../../../shared/fold.js';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage } from '../../support/browser.js';
import { connectClient } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';

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
    const page = createSSRApp({
      setup() {
        const { messages, status } = useSession('main', { initial });
        const health = useConnection();
        return () => h('p', `${status.value} ${health.value} ${messages.value.length}`);
      },
    });
    expect(await renderToString(page.provide(GATEWAY, client))).to.equal('<p>ready connecting 1</p>');
    expect(asked).to.deep.equal([]);
    expect(client.connection.state).to.equal('closed');
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

  it('has refs for what a session may lack at first', async () => {
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const host = createSSRApp({ render: () => null }).provide(GATEWAY, client);
    const scope = effectScope();
    const session = host.runWithContext(() => scope.run(() => useSession('main'))!);
    expect([session.title, session.metadata, session.archived].map(({ value }) => value)).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    await session.send('one').result;
    const changed = new Promise<void>((resolve) => {
      watch(session.archived, () => resolve(), { flush: 'sync' });
    });
    await client.update('main', { title: 'One', metadata: { color: 'red' }, archived: true });
    await changed;
    expect(session.title.value).to.equal('One');
    expect(session.metadata.value).to.deep.equal({ color: 'red' });
    expect(session.archived.value).to.equal(true);
    scope.stop();
  });

  it('edits, asks again, goes back and forks, and shows it', async () => {
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const host = createSSRApp({ render: () => null }).provide(GATEWAY, client);
    const scope = effectScope();
    const session = host.runWithContext(() => scope.run(() => useSession('main'))!);
    const becomes = async (shown: () => unknown) => {
      let stop = () => {};
      await new Promise<void>((resolve) => {
        stop = watch(shown, (is) => is && resolve(), { immediate: true, flush: 'sync' });
      });
      stop();
    };
    await session.send({ id: 'q1', content: 'one' }).result;
    const edit = session.edit('q1', 'uno');
    expect(session.sending.value[0]).to.include({ key: edit.idempotencyKey, replaces: 'q1' });
    const former = (await edit.result).message.id;
    await becomes(() => session.status.value === 'ready');
    const again = session.regenerate();
    expect(session.regenerating.value).to.include({ messageId: former, status: 'sending' });
    const { message } = await again.result;
    await becomes(() => session.status.value === 'ready');
    expect(session.regenerating.value).to.equal(undefined);
    expect(session.messages.value.at(-1)).to.deep.include({ id: message.id, versions: [former, message.id] });
    const [question] = session.messages.value;
    await session.move(question!.id);
    await becomes(() => session.replies.value);
    expect(session.replies.value).to.deep.equal([former, message.id]);
    expect(await session.fork('other', { at: former })).to.include({ sessionId: 'other', tip: former });
    scope.stop();
  });

  it('says what is missing', () => {
    const app = createSSRApp({ render: () => null });
    app.config.warnHandler = () => {};
    expect(() => app.runWithContext(() => useGateway()))
      .to.throw('app.provide(GATEWAY, client)')
      .with.property('code', 'INVALID_REQUEST');
  });
});
