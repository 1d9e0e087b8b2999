import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { createDemoGateway } from '../../server/demo/demo-gateway.js';
import { needChromium } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import {
  answers,
  CUTS,
  counted,
  cutInAnswers,
  expectWhole,
  openPlayground,
  said,
  say,
  show,
  watch,
} from './playground-page.js';

type DemoApp = ReturnType<typeof createDemoApp>;

const TOKENS = { admin: 'the-token-of-an-admin-of-32-bytes-', guest: 'the-token-of-a-guest-of-32-bytes--' };

async function startDemo(app: DemoApp = createDemoApp(5)) {
  const gateway = createDemoGateway({ app, tokens: TOKENS, port: 0 });
  closeLater(gateway, (it) => it.close());
  const { url } = await gateway.start();
  return { url: url!, link: `${url}/#token=${TOKENS.admin}`, guest: `${url}/#token=${TOKENS.guest}` };
}

/** The demo with a story that is told again and again, so that it goes on until somebody ends it, however slow the page is. */
function withEndlessStory(): DemoApp {
  const demo = createDemoApp();
  return {
    ...demo,
    async *run(turn) {
      do yield* demo.run(turn) as AsyncIterable<string>;
      while (turn.text === 'story');
    },
  };
}

/** Says what is to become of messages while an answer goes on. */
async function whileBusy(page: Page, choice: string): Promise<void> {
  await page.getByRole('button', { name: /while an answer goes on/ }).click();
  await page.getByRole('menuitemradio', { name: choice }).click();
}

/** Chooses what the menu of a session of the list has. */
async function ofSession(page: Page, name: string, choice: string): Promise<void> {
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await list.getByRole('link', { name }).hover();
  await list.getByRole('button', { name: `More of ${name}` }).click();
  await list.getByRole('menuitem', { name: choice }).click();
}

describeDaily('the playground in Chromium', 3, () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  it('goes on over a WebSocket from where it was, cut 20 times too', async () => {
    const { url, link } = await startDemo();
    const { page, problems } = await openPlayground(link);
    await page.setViewportSize({ width: 1360, height: 850 });
    await say(page, 'story');
    await answers(page, 1);
    await show(page, 'Network');
    await page.getByLabel('WebSocket').check();
    const begun = await cutInAnswers(page, 1);
    await expectWhole(page, { url, token: TOKENS.admin }, begun + 1, CUTS);
    expect(problems).to.deep.equal([]);
  });

  it('changes the input of a tool before it allows it, and denies another', async () => {
    const { link } = await startDemo();
    const { page, problems } = await openPlayground(link);
    await say(page, 'delete report.txt');
    const card = page.getByRole('region', { name: 'Confirm delete' });
    await card.getByRole('button', { name: 'Edit input' }).click();
    expect(await card.getByLabel('file').inputValue()).to.equal('report.txt');
    await card.getByLabel('file').fill('other.txt');
    await card.getByRole('button', { name: 'Approve with this input' }).click();
    await said(page, 'Done: other.txt is gone (not really).').waitFor();
    await say(page, 'delete more.txt');
    await card.getByRole('button', { name: 'Deny with a reason' }).click();
    await card.getByLabel('Reason for denying').fill('Not mine');
    await card.getByRole('button', { name: 'Deny', exact: true }).click();
    await said(page, 'Then more.txt stays.').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('edits a message, leafs through its versions, answers again and forks', async () => {
    const { link } = await startDemo();
    const { page, problems } = await openPlayground(link);
    await say(page, 'weather in Oslo');
    await answers(page, 1);
    const question = page.locator('.message.user');
    await question.hover();
    await question.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('The message, changed').fill('weather in Rome');
    await page.getByRole('button', { name: 'Send in its place' }).click();
    await said(page, 'in Rome,').waitFor();
    expect(await said(page, 'in Oslo,').count()).to.equal(0);
    await question.getByRole('button', { name: 'Version before' }).click();
    await said(page, 'in Oslo,').waitFor();
    expect(await question.getByText('1 of 2').count()).to.equal(1);

    const answer = page.locator('.message.assistant');
    await answer.getByRole('button', { name: 'Answer again' }).click();
    await answer.getByText('2 of 2').waitFor();
    await answers(page, 1);
    await answer.getByRole('button', { name: 'Fork' }).click();
    await page.waitForURL(/#\/chat\/main-\w+$/);
    await said(page, 'in Oslo,').waitFor();
    await say(page, 'weather in Bern');
    await said(page, 'in Bern,').waitFor();
    await page.getByRole('navigation', { name: 'Sessions' }).getByTitle('main', { exact: true }).click();
    await page.waitForURL(/#\/chat\/main$/);
    await page.getByRole('region', { name: 'Conversation main', exact: true }).waitFor();
    await said(page, 'in Oslo,').waitFor();
    expect(await said(page, 'in Bern,').count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });

  it('queues, steers and interrupts', async () => {
    const { link } = await startDemo(withEndlessStory());
    const { page, problems } = await openPlayground(link);
    await say(page, 'story');
    await page.locator('.growing').waitFor();
    await whileBusy(page, 'Steer it');
    await say(page, 'Faster, please');
    await said(page, '(You say: Faster, please. Noted.)').waitFor();
    await whileBusy(page, 'Queue behind it');
    await say(page, 'weather in Oslo');
    await said(page, 'Waits for its turn').waitFor();
    await whileBusy(page, 'Interrupt it');
    await say(page, 'weather in Rome');
    await said(page, 'Interrupted by the next message').waitFor();
    await said(page, 'in Oslo,').waitFor();
    await said(page, 'in Rome,').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('gives a session a title, archives it and finds it again, in two tabs', async () => {
    const { url, link } = await startDemo();
    const { page, problems } = await openPlayground(link);
    await say(page, 'weather in Oslo');
    await answers(page, 1);
    const second = await page.context().newPage();
    watch(second, new URL(url).host, problems);
    await second.goto(link);
    const list = page.getByRole('navigation', { name: 'Sessions' });
    const listThere = second.getByRole('navigation', { name: 'Sessions' });
    await ofSession(page, 'main', 'Rename');
    await list.getByLabel('Title of main').fill('The weather');
    await page.keyboard.press('Enter');
    for (const each of [list, listThere]) await each.getByRole('link', { name: /The weather/ }).waitFor();
    await ofSession(page, 'The weather', 'Archive');
    for (const each of [list, listThere])
      await each.getByRole('link', { name: /The weather/ }).waitFor({ state: 'detached' });
    await list.getByRole('button', { name: 'Archive', exact: true }).click();
    await list.getByRole('link', { name: /The weather/ }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('exports a session, deletes it, and imports it again; a guest is told who may', async () => {
    const { link, guest } = await startDemo();
    const { page, problems } = await openPlayground(link);
    await say(page, 'weather in Oslo');
    await answers(page, 1);
    const list = page.getByRole('navigation', { name: 'Sessions' });
    const [download] = await Promise.all([page.waitForEvent('download'), ofSession(page, 'main', 'Export')]);
    expect(download.suggestedFilename()).to.equal('main.messages.ndjson');
    const file = {
      name: download.suggestedFilename(),
      mimeType: 'application/x-ndjson',
      buffer: await readFile(await download.path()),
    };
    expect(
      file.buffer
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).role),
    ).to.deep.equal(['user', 'assistant']);

    await ofSession(page, 'main', 'Delete…');
    const asked = page.getByRole('dialog', { name: 'Delete main?' });
    await asked.getByRole('button', { name: 'Keep it' }).click();
    await said(page, 'in Oslo,').waitFor();
    await ofSession(page, 'main', 'Delete…');
    await asked.getByRole('button', { name: 'Delete it' }).click();
    await said(page, 'in Oslo,').waitFor({ state: 'detached' });
    await list.getByText('new', { exact: true }).waitFor();

    const take = async (playground: Page, files: typeof file) => {
      const [chooser] = await Promise.all([
        playground.waitForEvent('filechooser'),
        playground.getByRole('button', { name: 'Import' }).click(),
      ]);
      await chooser.setFiles(files);
    };
    await take(page, { ...file, buffer: Buffer.from('{"role":') });
    await list.getByRole('alert').getByText('Message 1 of the file is not JSON').waitFor();
    await take(page, file);
    await page.waitForURL(/#\/chat\/main-\w+$/);
    await said(page, 'in Oslo,').waitFor();
    await say(page, 'weather in Rome');
    await said(page, 'in Rome,').waitFor();

    const other = await openPlayground(guest);
    await take(other.page, file);
    await other.page
      .getByRole('alert')
      .getByText(/import/)
      .waitFor();
    expect([...problems, ...other.problems]).to.deep.equal([]);
  });

  it('loses nothing to a network that is away for five seconds, or to a slow reader', async () => {
    const { url, link } = await startDemo(createDemoApp());
    const { page, problems } = await openPlayground(link);
    await page.setViewportSize({ width: 1360, height: 850 });
    await say(page, 'story');
    await page.locator('.growing').waitFor();
    await show(page, 'Network');
    await page.getByRole('button', { name: 'Go offline for 5 s' }).click();
    await page.getByText('Reconnecting').waitFor();
    await page.getByText('Connected').waitFor();
    const slow = page.getByRole('button', { name: 'Slow reader' });
    await slow.click();
    const before = await counted(page, 'delivered');
    await page.waitForFunction(
      (seen) => Number(document.querySelector('[data-counter="delivered"]')!.textContent) > seen + 20,
      before,
    );
    await slow.click();
    await answers(page, 1);
    await expectWhole(page, { url, token: TOKENS.admin }, 1, 1);
    expect(problems).to.deep.equal([]);
  });

  it('publishes on a channel and shows what comes', async () => {
    const { link } = await startDemo();
    const { page, problems } = await openPlayground(link);
    await show(page, 'Calls');
    const channel = page.locator('.method', { hasText: 'announcements' });
    await channel.locator('summary').click();
    await channel.getByLabel('text').fill('Lunch is ready');
    await channel.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('announcements {"text":"Lunch is ready"}').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('asks for a token, says when it is refused, and keeps a good one', async () => {
    const { url } = await startDemo();
    const { page, problems } = await openPlayground(url);
    await page.getByLabel('Token').fill('another');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('The gateway refuses this token.').waitFor();
    await page.getByLabel('Token').fill(TOKENS.admin);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('heading', { name: 'Shows what a gateway can do' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Shows what a gateway can do' }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('steps through a run and shows the state that it had come to', async () => {
    const { link } = await startDemo();
    const { page, problems } = await openPlayground(link);
    await say(page, 'weather in Oslo');
    await answers(page, 1);
    await show(page, 'Timeline');
    await page.getByLabel('Show events of').selectOption('tools');
    await page.locator('.events button', { hasText: 'tool_result' }).click();
    expect(await page.getByRole('figure', { name: 'The event' }).textContent()).to.contain('"celsius"');
    await page.getByRole('button', { name: 'Step back' }).click();
    await page.getByRole('button', { name: 'State after it' }).click();
    const state = JSON.parse((await page.getByRole('figure', { name: 'The state after it' }).textContent())!);
    expect(state.run.message.content.map(({ type }: { type: string }) => type)).to.deep.equal([
      'text',
      'tool_use',
    ]);
    expect(problems).to.deep.equal([]);
  });

  it('opens an export, steps through it, and goes back', async () => {
    const { link } = await startDemo();
    const { page, problems } = await openPlayground(link);
    await show(page, 'Timeline');
    const event = (seq: number, type: string, rest: object) =>
      JSON.stringify({ type, sessionId: 'theirs', cursor: `AAAAAAAAAAA.1.${seq}`, ts: seq, ...rest });
    const accepted = { id: 'm1', role: 'user', content: [{ type: 'text', text: 'hello' }], createdAt: 1 };
    const lines = [
      event(1, 'message_accepted', { runId: 'r', message: accepted, onBusy: 'queue', position: 0 }),
      event(2, 'message_start', { runId: 'r', messageId: 'a1', app: 'default' }),
      event(3, 'content_delta', { runId: 'r', delta: 'good day', index: 0 }),
    ];
    const open = async (name: string, text: string) => {
      const chosen = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Open export' }).click();
      await (await chosen).setFiles({ name, mimeType: 'application/x-ndjson', buffer: Buffer.from(text) });
    };
    await open('not.ndjson', 'no JSON');
    await page.getByRole('alert').filter({ hasText: 'not.ndjson cannot be opened' }).waitFor();
    await open('theirs.ndjson', `${lines.join('\n')}\n`);
    await page.getByText('theirs.ndjson: 3 events').waitFor();
    await page.getByRole('button', { name: 'Step back' }).click();
    await page.getByRole('button', { name: 'State after it' }).click();
    const state = JSON.parse((await page.getByRole('figure', { name: 'The state after it' }).textContent())!);
    expect(state.run.message.content).to.deep.equal([{ type: 'text', text: 'good day' }]);
    await page.getByRole('button', { name: 'Back to main' }).click();
    await page.getByText('Nothing has happened in main yet.').waitFor();
    expect(problems).to.deep.equal([]);
  });
});
