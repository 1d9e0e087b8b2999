import { expect } from 'chai';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { createDemoGateway } from '../../server/demo/demo-gateway.js';
import { needChromium } from '../support/browser.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import { answers, openPlayground, said, say, show } from './playground-page.js';

const TOKENS = { admin: 'the-token-of-an-admin-of-32-bytes-', guest: 'the-token-of-a-guest-of-32-bytes--' };

describe('a session that is shared in the playground, in Chromium', () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  it('is followed live by whoever opens the link in a private window, until it is taken back', async function () {
    this.timeout(120_000);
    const gateway = createDemoGateway({ app: createDemoApp(5), tokens: TOKENS, port: 0 });
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    const { page, problems } = await openPlayground(`${url}/#token=${TOKENS.admin}`);
    await say(page, 'hello');
    await answers(page, 1);
    await show(page, 'Methods');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const link = await page.getByRole('link', { name: 'The link, shown this once' }).getAttribute('href');
    expect(link).to.match(/#token=lnk_[\w-]{43}&\/chat\/~/);
    // Another browser has nothing of what this one keeps.
    const guest = await openPlayground(link!);
    await answers(guest.page, 1);
    expect(guest.page.url()).not.to.include('lnk_');
    await show(page, 'Network');
    await say(page, 'and now live');
    await said(guest.page, 'and now live').first().waitFor();
    await answers(guest.page, 2);
    await show(page, 'Methods');
    await page.getByRole('button', { name: 'Take back' }).first().click();
    await page.getByText('main is shared with nobody.').waitFor();
    await show(page, 'Network');
    await say(page, 'only for us');
    await answers(page, 3);
    expect(await said(guest.page, 'only for us').count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });
});
