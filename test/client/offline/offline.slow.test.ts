import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { deliveryFaults, eventsOf, testGateways } from '../../../testing/index.js';
import { needChromium } from '../../support/browser.js';
import { describeDaily } from '../../support/daily.js';
import { crash, cutOff, keeps, openFirst, openTab, serveOffline, shows } from './offline-page.js';

const start = testGateways(afterEach);

const echo = defineApp({
  async *run(turn) {
    yield `you said ${turn.text}`;
  },
});

async function open(options = '') {
  let url = '';
  const served = await serveOffline(() => url, options);
  const gateway = await start({ app: echo, origins: [served.url] });
  url = gateway.url;
  await served.bundle();
  const client = gateway.client({ user: 'ada' });
  /** What was said to the app, and that all of it was delivered once. */
  const said = async (): Promise<string[]> => {
    const log = await eventsOf(client, 'main');
    expect(deliveryFaults({ log })).to.deep.equal([]);
    return log.flatMap((event) =>
      event.type === 'message_accepted'
        ? [event.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')]
        : [],
    );
  };
  return { gateway, client, url: served.url, said, page: await openFirst(served.url) };
}

const ONE = ['one', 'you said one'];
const BOTH = [...ONE, 'two', 'you said two'];
const settled = { status: 'ready', stale: false, sending: [] as never[] };

describeDaily('a page that keeps what it shows', 3, () => {
  before(function () {
    needChromium(this);
  });

  it('shows it at once after a reload, as old, until its gateway goes on from there', async () => {
    const { page, gateway, client, url, said } = await open();
    await page.evaluate(() => globalThis.session.send('one').result);
    await shows(page, { ...settled, texts: ONE });
    await keeps(page, '"endedAt"');
    await page.goto('about:blank');
    await client.send('main', 'two').result;
    const letIn = await cutOff(page, gateway.url);
    await page.goto(url);
    await page.waitForFunction(() => typeof globalThis.look === 'function');
    await shows(page, { stale: true, texts: ONE });
    await letIn();
    await shows(page, { ...settled, texts: BOTH });
    // Never did it say of the old state that it is so.
    expect(await page.evaluate(() => globalThis.claims.filter((texts) => texts !== ''))).to.not.include(
      ONE.join('|'),
    );
    expect(await said()).to.deep.equal(['one', 'two']);
  });

  it('sends what was said without a network after a crash, once and in order', async () => {
    const { page, gateway, url, said } = await open();
    await cutOff(page, gateway.url);
    await page.evaluate(() => {
      for (const text of ['one', 'two']) globalThis.session.send(text).accepted.catch(() => {});
    });
    await shows(page, {
      sending: [
        ['sending', 'one'],
        ['sending', 'two'],
      ],
    });
    await page.evaluate(() => globalThis.persist.drafts.set('main', 'thr'));
    const context = page.context();
    await crash(page);
    const again = await openTab(context, url);
    await shows(again, { ...settled, texts: BOTH });
    expect(await said()).to.deep.equal(['one', 'two']);
    expect(await again.evaluate(() => globalThis.persist.drafts.get('main'))).to.equal('thr');
  });

  it('sends nothing twice where only the answer was lost, through a crash and a restart', async () => {
    const { page, gateway, url, said } = await open();
    await page.route(`${gateway.url}/send`, async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.evaluate(() => {
      globalThis.session.send('one').accepted.catch(() => {});
    });
    await shows(page, { texts: ONE });
    const context = page.context();
    await crash(page);
    await gateway.restart();
    const again = await openTab(context, url);
    await shows(again, { ...settled, texts: ONE });
    await again.evaluate(() => globalThis.session.send('two').result);
    expect(await said()).to.deep.equal(['one', 'two']);
  });

  it('goes on exactly where its gateway was killed meanwhile', async () => {
    const { page, gateway, client, url } = await open();
    await page.evaluate(() => globalThis.session.send('one').result);
    await shows(page, { ...settled, texts: ONE });
    await keeps(page, '"endedAt"');
    await page.goto('about:blank');
    await gateway.kill();
    await client.send('main', 'two').result;
    await page.goto(url);
    await page.waitForFunction(() => typeof globalThis.look === 'function');
    await shows(page, { ...settled, texts: BOTH });
  });

  it('sends nothing by itself that is older than its key, and shows that it failed', async () => {
    const { page, gateway, said } = await open('unsentMs: 500');
    const letIn = await cutOff(page, gateway.url);
    await page.evaluate(() => {
      globalThis.session.send('one').accepted.catch(() => {});
    });
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 700)));
    await page.reload();
    await page.waitForFunction(() => typeof globalThis.look === 'function');
    await letIn();
    await shows(page, { status: 'ready', sending: [['failed', 'one']] });
    expect(await said()).to.deep.equal([]);
    await page.evaluate(() => (globalThis as any).entries()[0].retry());
    await shows(page, { ...settled, texts: ONE });
    expect(await said()).to.deep.equal(['one']);
  });

  it('shares it with another tab, which sends what a tab left that crashed', async () => {
    const { page, gateway, url, said } = await open();
    const other = await openTab(page.context(), url);
    await cutOff(page, gateway.url);
    await page.evaluate(() => {
      globalThis.session.send('one').accepted.catch(() => {});
    });
    await shows(page, { sending: [['sending', 'one']] });
    await other.evaluate(() => globalThis.session.send('from the other').result);
    // While its own tab lives, that one sends it.
    expect(await said()).to.deep.equal(['from the other']);
    await crash(page);
    await shows(other, { ...settled, texts: ['from the other', 'you said from the other', ...ONE] });
    expect(await said()).to.deep.equal(['from the other', 'one']);
  });

  it('forgets all of it with a logout, in every tab', async () => {
    const { page, gateway, url, said } = await open();
    await page.evaluate(() => globalThis.session.send('one').result);
    await keeps(page, '"endedAt"');
    const other = await openTab(page.context(), url);
    await cutOff(other, gateway.url);
    await other.evaluate(() => {
      globalThis.session.send('secret').accepted.catch(() => {});
    });
    await shows(other, { sending: [['sending', 'secret']] });
    await page.evaluate(async () => {
      globalThis.client.disconnect();
      await globalThis.persist.wipe();
    });
    await shows(other, { sending: [] });
    await other.close();
    const kept = await page.evaluate(async () => {
      const [{ name }] = (await indexedDB.databases()) as [{ name: string }];
      const database = await new Promise<IDBDatabase>((resolve) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
      });
      return new Promise((resolve) => {
        const request = database.transaction('kept').objectStore('kept').getAllKeys();
        request.onsuccess = () => resolve(request.result);
      });
    });
    expect(kept).to.deep.equal([]);
    const context = page.context();
    const again = await openTab(context, url);
    await shows(again, { ...settled, texts: ONE });
    expect(await said()).to.deep.equal(['one']);
  });
});
