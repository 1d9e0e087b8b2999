import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { sessionSharing } from '../../client/people/index.js';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { createDemoGateway } from '../../server/demo/demo-gateway.js';
import { defineApp } from '../../server/index.js';
import { needChromium } from '../support/browser.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import { answers, messageBox, openPlayground, said, say } from './playground-page.js';

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
    await page.getByRole('button', { name: 'Share…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share' });
    await dialog.getByRole('tab', { name: 'By a link' }).click();
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const link = await page.getByLabel('The link, shown this once').inputValue();
    expect(link).to.match(/#token=lnk_[\w-]{43}&\/chat\/~/);
    // Another browser has nothing of what this one keeps.
    const guest = await openPlayground(link!);
    await answers(guest.page, 1);
    expect(guest.page.url()).not.to.include('lnk_');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await say(page, 'and now live');
    await said(guest.page, 'and now live').first().waitFor();
    await answers(guest.page, 2);
    await page.getByRole('button', { name: 'Share…' }).click();
    await dialog.getByRole('button', { name: /^Take back from a link/ }).click();
    await dialog.getByText('Only you see this conversation.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await say(page, 'only for us');
    await answers(page, 3);
    expect(await said(guest.page, 'only for us').count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });

  it('shows who is there and who types, to a colleague and to a guest, and has one of them take over in mid-answer', async function () {
    this.timeout(120_000);
    const gateway = createDemoGateway({ app: createDemoApp(200), tokens: TOKENS, port: 0 });
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    const owner = await openPlayground(`${url}/#token=${TOKENS.admin}`);
    await say(owner.page, 'hello');
    await answers(owner.page, 1);
    const main = sessionSharing(
      closeLater(createClient({ baseUrl: url!, token: TOKENS.admin }), (it) => it.disconnect()),
      'main',
    );
    const { grant } = await main.share({ with: { userId: 'guest' }, as: 'operator' });
    const { token, grant: link } = await main.share({ with: { link: true }, as: 'member' });
    const colleague = await openPlayground(`${url}/#token=${TOKENS.guest}&/chat/${grant.sessionId}`);
    const stranger = await openPlayground(`${url}/#token=${token}&/chat/${link.sessionId}`);
    const pages = [owner.page, colleague.page, stranger.page];
    for (const page of pages) await page.locator('.face').nth(1).waitFor();
    await messageBox(colleague.page).pressSequentially('I');
    for (const page of [owner.page, stranger.page]) await page.getByText('guest is typing').waitFor();
    await say(owner.page, 'story');
    for (const page of pages) await page.locator('.growing').waitFor();
    await colleague.page.getByRole('button', { name: 'Take over' }).click();
    for (const page of pages) await page.locator('.outcome', { hasText: 'A person took over' }).waitFor();
    await owner.page.getByText('guest answers.').waitFor();
    await say(colleague.page, 'I am a person');
    for (const page of pages)
      await page.locator('.message.assistant', { hasText: 'I am a person' }).waitFor();
    await colleague.page.getByRole('button', { name: 'Hand back and have it answer' }).click();
    for (const page of pages) await page.locator('.control[data-control="app"]').waitFor();
    const thumb = (page: typeof owner.page) => page.getByRole('button', { name: /^Good answer/ }).last();
    await thumb(stranger.page).click();
    await owner.page.getByRole('button', { name: 'Good answer, 1 so far' }).waitFor();
    for (const { problems } of [owner, colleague, stranger]) expect(problems).to.deep.equal([]);
  });

  it('of any user is listed for who may read all, and shown to them without a way to change it', async function () {
    this.timeout(120_000);
    const gateway = createDemoGateway({ app: createDemoApp(5), tokens: TOKENS, port: 0 });
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    const guest = await openPlayground(`${url}/#token=${TOKENS.guest}&/chat/theirs`);
    await say(guest.page, 'hello');
    await answers(guest.page, 1);
    expect(await guest.page.getByRole('button', { name: 'Sessions of all users' }).count()).to.equal(0);
    const { page, problems } = await openPlayground(`${url}/#token=${TOKENS.admin}`);
    const red: string[] = [];
    page.on('console', (message) => message.type() === 'error' && red.push(message.text()));
    await page.getByRole('button', { name: 'Sessions of all users' }).click();
    const theirs = page.locator('.entry', { hasText: 'guest' });
    await theirs.locator('.opener').click();
    await answers(page, 1);
    expect(await theirs.getByRole('button').count()).to.equal(0);
    expect(await messageBox(page).count()).to.equal(0);
    for (const name of ['Share…', 'Take over', 'Answer again', 'Edit', 'Good answer'])
      expect(await page.locator('main').getByRole('button', { name }).count(), name).to.equal(0);
    await said(page, 'hello').first().waitFor();
    await say(guest.page, 'and now live');
    await answers(page, 2);
    expect(red).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it('of any user is found by its failure', async function () {
    this.timeout(120_000);
    const app = defineApp({
      run({ text }) {
        if (text === 'break') throw new Error('broken');
        return `You say ${text}`;
      },
    });
    const gateway = createDemoGateway({ app, tokens: TOKENS, port: 0 });
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    const guest = closeLater(createClient({ baseUrl: url!, token: TOKENS.guest }), (it) => it.disconnect());
    await guest.session('good').send('hello').result;
    await guest
      .session('bad')
      .send('break')
      .result.catch(() => {});
    const { page, problems } = await openPlayground(`${url}/#token=${TOKENS.admin}`);
    const entries = page.locator('.entry', { hasText: 'guest' });
    expect(await page.getByRole('button', { name: 'Those that failed' }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Sessions of all users' }).click();
    await entries.nth(1).waitFor();
    expect(await entries.locator('.state.failed').count()).to.equal(1);
    await page.getByRole('button', { name: 'Those that failed' }).click();
    await entries.nth(1).waitFor({ state: 'detached' });
    expect(await entries.innerText())
      .to.include('break')
      .and.include('failed');
    await guest.session('bad').send('hello').result;
    await page.getByText('Nothing has failed.').waitFor();
    expect(problems).to.deep.equal([]);
  });
});
