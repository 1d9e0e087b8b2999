import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { createDemoGateway } from '../../server/demo/demo-gateway.js';
import { openPlayground, watch } from '../e2e/playground-page.js';
import { needChromium } from '../support/browser.js';
import { connectClient } from '../support/client.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';

const TOKEN = 'the-token-of-an-admin-of-32-bytes-';

/** The bell of a page, once it says so many. */
const bell = (page: Page, count: number) =>
  page.getByRole('button', { name: count > 0 ? `Inbox, ${count} new` : 'Inbox', exact: true }).waitFor();
const entry = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: new RegExp(name) });

describe('an inbox in two pages in Chromium', () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  it('falls in one page when its person reads in the other', async () => {
    const gateway = createDemoGateway({
      app: createDemoApp(1),
      tokens: { admin: TOKEN, guest: 'guest' },
      port: 0,
    });
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    const client = connectClient(url!, { token: TOKEN });
    const { page, problems } = await openPlayground(`${url}/#token=${TOKEN}`);
    const second = await page.context().newPage();
    watch(second, new URL(url!).host, problems);
    await second.goto(`${url}/#token=${TOKEN}`);
    for (const each of [page, second]) await bell(each, 0);
    await client.send('news', 'weather in Oslo').result;
    for (const each of [page, second]) {
      await bell(each, 1);
      await entry(each, 'news.*1 unread').waitFor();
    }
    await entry(page, 'news').click();
    for (const each of [page, second]) await bell(each, 0);
    await entry(second, 'news.*1 unread').waitFor({ state: 'detached' });
    expect(problems).to.deep.equal([]);
  });
});
