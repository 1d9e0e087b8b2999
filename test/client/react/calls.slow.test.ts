import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { defineApp, type Gateway } from '../../../server/index.js';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage, untilTitled } from '../../support/browser.js';
import { describeDaily } from '../../support/daily.js';
import { PRELUDE } from './pages.js';

const app = defineApp({
  async *run(turn) {
    yield `You said ${turn.text}`;
  },
});

async function open(script: string) {
  let gateway!: Gateway;
  const url = await servePage(
    `${PRELUDE}globalThis.heard = [];\n${script}`,
    {
      app,
      methods: {
        double: async (params: { readonly n: number }) => params.n * 2,
        wait: async (params: { readonly ms: number }) => {
          await new Promise((resolve) => setTimeout(resolve, params.ms));
          return params.ms;
        },
      },
    },
    (it) => {
      gateway = it;
    },
  );
  return { gateway, url, ...(await openPage(url)) };
}

const heard = (page: Page): Promise<unknown[]> => page.evaluate(() => (globalThis as any).heard);
const heardCount = (page: Page, wanted: number) =>
  page.waitForFunction((many) => (globalThis as any).heard.length >= many, wanted);

describeDaily('react hooks', 3, () => {
  before(function () {
    needChromium(this);
  });

  it('hear each event once, under StrictMode too, by the handler of the last render', async () => {
    const { page, problems } = await open(`
      function Page() {
        const [name, rename] = useState('first');
        globalThis.rename = rename;
        count(name);
        useSessionEvents('main', (event) => globalThis.heard.push(name + ' ' + event.type), { types: ['message_accepted', 'message_end'], from: 'earliest' });
        return h('h1', null, name);
      }
      mount(h(StrictMode, null, h(Page)));`);
    const { first } = await page.evaluate(async () => {
      await globalThis.client.send('main', 'one').result;
      return globalThis.renders;
    });
    await heardCount(page, 2);
    expect((await page.evaluate(() => globalThis.renders)).first).to.equal(first);
    await page.evaluate(() => (globalThis as any).rename('second'));
    await untilTitled(page, 'second');
    await page.evaluate(() => globalThis.client.send('main', 'two').result);
    await heardCount(page, 4);
    expect(await heard(page)).to.deep.equal([
      'first message_accepted',
      'first message_end',
      'second message_accepted',
      'second message_end',
    ]);
    expect(problems).to.deep.equal([]);
  });

  it('hear on after a handler has thrown, and tell why they hear nothing', async () => {
    const { page, problems } = await open(`
      function Page() {
        useSessionEvents('main', ({ type }) => {
          globalThis.heard.push(type);
          if (type === 'message_accepted') throw new Error('of the page');
        }, { types: ['message_accepted', 'message_end'], from: 'earliest' });
        useSessionEvents('nobody:x', () => {}, { onError: ({ code }) => globalThis.heard.push(code) });
        return h('h1', null, 'there');
      }
      mount(h(Page));`);
    await heardCount(page, 1);
    await page.evaluate(() => globalThis.client.send('main', 'one').result);
    await heardCount(page, 3);
    expect(await heard(page)).to.have.members(['APP_NOT_FOUND', 'message_accepted', 'message_end']);
    expect(problems).to.deep.equal(['Error: of the page']);
  });

  it('call a method and show the last call, whichever ends first', async () => {
    const { page, problems } = await open(`
      function Page() {
        const double = globalThis.double = useMethod('double');
        const wait = globalThis.wait = useMethod('wait');
        const none = globalThis.none = useMethod('none');
        return h('h1', null, [double.isPending, double.data, wait.data, none.error?.code].join(' '));
      }
      mount(h(StrictMode, null, h(Page)));`);
    await untilTitled(page, 'false   ');
    expect(await page.evaluate(() => (globalThis as any).double.invoke({ n: 21 }))).to.equal(42);
    await untilTitled(page, 'false 42  ');
    // Nobody handles what this rejects with.
    await page.evaluate(() => void (globalThis as any).none.invoke());
    await untilTitled(page, 'false 42  METHOD_NOT_FOUND');
    await page.evaluate(async () => {
      const { invoke } = (globalThis as any).wait;
      await Promise.all([invoke({ ms: 300 }), invoke({ ms: 1 })]);
    });
    await untilTitled(page, 'false 42 1 METHOD_NOT_FOUND');
    expect(problems).to.deep.equal([]);
  });

  it('list the sessions, page by page, and again', async () => {
    const { page, gateway, problems } = await open(`
      function Page() {
        const list = globalThis.list = useSessions({ limit: 2 });
        return h('h1', null, list.sessions ? list.sessions.map(({ sessionId }) => sessionId).sort().join() + ' ' + list.hasMore : 'none yet');
      }
      globalThis.begin = () => mount(h(StrictMode, null, h(Page)));`);
    for (const id of ['a', 'b', 'c']) await gateway.session(id, { anonymous: true }).send('Hi').result;
    await page.evaluate(() => (globalThis as any).begin());
    await page.waitForFunction(() => (globalThis as any).list?.sessions?.length === 2);
    await page.evaluate(() => (globalThis as any).list.loadMore());
    await untilTitled(page, 'a,b,c false');
    await page.evaluate(() => (globalThis as any).list.refresh());
    await page.waitForFunction(() => (globalThis as any).list.sessions.length === 2);
    expect(await page.evaluate(() => (globalThis as any).list.hasMore)).to.equal(true);
    expect(problems).to.deep.equal([]);
  });

  it('list what is searched for, and read it again when that changes', async () => {
    const { page, gateway, problems } = await open(`
      function Page() {
        const [options, search] = useState({ query: 'one' });
        globalThis.search = search;
        const list = useSessions(options);
        return h('h1', null, list.isPending ? 'reading' : list.sessions.map(({ sessionId, title, messageCount }) => [sessionId, title, messageCount].join(' ')).join());
      }
      globalThis.begin = () => mount(h(StrictMode, null, h(Page)));`);
    for (const [id, title] of Object.entries({ a: 'One', b: 'Two', c: 'One more' })) {
      const session = gateway.session(id, { anonymous: true });
      await session.send('Hi').result;
      await session.update({ title, archived: id === 'c' });
    }
    await page.evaluate(() => (globalThis as any).begin());
    await untilTitled(page, 'a One 2');
    await page.evaluate(() => (globalThis as any).search({ query: 't' }));
    await untilTitled(page, 'b Two 2');
    await page.evaluate(() => (globalThis as any).search({ archived: true, status: 'idle' }));
    await untilTitled(page, 'c One more 2');
    expect(problems).to.deep.equal([]);
  });

  it('publish on a channel and hear it', async () => {
    const { page, problems } = await open(`
      function Page() {
        const { publish } = globalThis.channel = useChannel('main', 'cursor', (message) => globalThis.heard.push(message.payload));
        return h('h1', null, useConnection());
      }
      mount(h(StrictMode, null, h(Page)));`);
    await page.waitForFunction(() => globalThis.client.connection.state === 'open');
    await page.evaluate(() => (globalThis as any).channel.publish({ x: 1 }));
    await heardCount(page, 1);
    expect(await heard(page)).to.deep.equal([{ x: 1 }]);
    expect(problems).to.deep.equal([]);
  });

  it('say how the connection is: online, offline, refused', async () => {
    const { page, problems } = await open(`
      function Page() {
        return h('h1', null, useConnection());
      }
      mount(h(Page));`);
    await untilTitled(page, 'online');
    const context = page.context();
    await page.evaluate(() => void globalThis.client.events('main').next());
    await page.waitForFunction(() => globalThis.client.connection.state === 'open');
    await context.setOffline(true);
    await untilTitled(page, 'offline');
    await context.setOffline(false);
    await untilTitled(page, 'online');
    await page.route('**/agent/events*', (route) =>
      route.fulfill({ status: 401, json: { error: { code: 'UNAUTHENTICATED', message: 'who?' } } }),
    );
    await page.evaluate(() => {
      globalThis.client.disconnect();
      void globalThis.client
        .events('main')
        .next()
        .catch(() => {});
    });
    await untilTitled(page, 'unauthorized');
    expect(problems).to.deep.equal([]);
  });
});
