import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { createGateway, defineApp, tool } from '../../server/index.js';
import { playgroundPlugin } from '../../server/plugins/playground/index.js';
import { findings } from '../support/axe.js';
import { needChromium } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { PNG } from '../support/files.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import { answers, expectToFit, messageBox, openPlayground, said, say, show } from './playground-page.js';

const PHONE = { width: 390, height: 844 };

async function start() {
  const app = defineApp({
    description: 'Tries the manners of its page',
    suggestions: [{ text: 'Hello', shows: 'A greeting' }],
    tools: { pay: tool({ schema: z.object({ amount: z.number() }), confirm: true, handler: () => 'paid' }) },
    async *run(turn) {
      if (turn.text === 'pay') await turn.callTool('pay', { amount: 49 });
      else if (turn.text === 'helpers') {
        const run = async function* () {
          yield 'I have read all of it.';
        };
        const slow = async function* () {
          yield 'I read what 212 buyers say.';
          await once(turn.signal, 'abort');
        };
        const all = [
          turn.spawn('first', { id: 'first', message: 'read', run }),
          turn.spawn('second', { id: 'second', message: 'read', run: slow }),
        ];
        for (const { result } of all) await result;
      } else yield `You said: ${turn.text}`;
    },
  } as Parameters<typeof defineApp>[0]);
  const other = defineApp({ run: (turn) => `Other: ${turn.text}` });
  const gateway = createGateway({
    port: 0,
    apps: { main: app, other },
    defaultApp: 'main',
    auth: { type: 'none' },
    clientMessages: { import: true },
    limits: { drainMs: 200 },
  }).use(playgroundPlugin({ path: '/' }));
  closeLater(gateway, (it) => it.close());
  const { url } = await gateway.start();
  const opened = await openPlayground(`${url}/`);
  await opened.page.setViewportSize({ width: 1360, height: 850 });
  await messageBox(opened.page).waitFor();
  return { ...opened, gateway, url: url! };
}

/** Has the page believe that it is touched. */
async function touch(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  await page.setViewportSize(PHONE);
  await page.waitForFunction(() => matchMedia('(pointer: coarse)').matches);
}

const isFocused = (it: Locator) => it.evaluate((element) => element === document.activeElement);

describeDaily('the manners of the playground', 3, () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  it('is at most 150 kB, compressed, before it colours code, and 160 with a trace beside it', async () => {
    const { page, problems } = await start();
    const sizes = new Map<string, number>();
    page.on('response', async (response) => {
      const { pathname } = new URL(response.url());
      if (/\.(?:js|css)$|\/$/.test(pathname))
        sizes.set(pathname, gzipSync(await response.body(), { level: 9 }).length);
    });
    const total = () => [...sizes.values()].reduce((sum, it) => sum + it, 0);
    await page.setViewportSize(PHONE);
    await page.reload();
    await say(page, 'Some **words**');
    await answers(page, 1);
    expect(total(), JSON.stringify([...sizes]))
      .to.be.at.most(150_000)
      .and.above(120_000);
    await page.setViewportSize({ width: 1360, height: 850 });
    await page.getByRole('list', { name: /^Trace of/ }).waitFor();
    expect(total(), JSON.stringify([...sizes])).to.be.at.most(160_000);
    const before = total();
    await say(page, 'code:\n```ts\nconst a = 1;\n```');
    await page.locator('.hljs-keyword').waitFor();
    expect(total() - before, 'the colours').to.be.above(10_000);
    expect(problems).to.deep.equal([]);
  });

  it('asks for nothing that does not exist, in a session that nobody has begun', async () => {
    const { page, problems } = await start();
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    });
    const told: string[] = [];
    page.on('console', (message) => message.type() === 'error' && told.push(message.text()));
    await page.reload();
    await page.getByRole('button', { name: /^Hello/ }).waitFor();
    await page
      .getByRole('navigation', { name: 'Sessions' })
      .getByRole('button', { name: 'New session' })
      .click();
    await page.getByRole('menuitem', { name: 'main' }).click();
    await page.waitForURL(/#\/chat\/chat-/);
    await page.getByRole('button', { name: /^Hello/ }).click();
    await answers(page, 1);
    expect([...refused, ...told, ...problems]).to.deep.equal([]);
  });

  it('asks which app is to answer, and calls a new session by its first message', async () => {
    const { page, problems } = await start();
    const list = page.getByRole('navigation', { name: 'Sessions' });
    await list.getByRole('button', { name: 'New session' }).click();
    await page.getByRole('menuitem', { name: 'other' }).click();
    await page.waitForURL(/#\/chat\/other%3Achat-/);
    await page.getByRole('banner').locator('.place', { hasText: 'New session' }).waitFor();
    await say(page, '## How many **bees** are there in one hive, in the summer, and how many in the winter?');
    await said(page, 'Other: ## How many').waitFor();
    const title = 'How many bees are there in one hive, in the summer, and how…';
    await list.getByRole('link', { name: title }).waitFor();
    await page.getByRole('banner').locator('.place', { hasText: title }).waitFor();
    await page.waitForFunction((it) => document.title === `${it} · Playground`, title);
    await say(page, 'And wasps?');
    await answers(page, 2);
    await list.getByRole('link', { name: title }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('has decisions in one row, also on a phone, and a reason for denying where one is asked for', async () => {
    const { page, problems } = await start();
    await say(page, 'pay');
    const card = page.getByRole('region', { name: 'Confirm pay' });
    await card.getByText('amount').waitFor();
    const { height } = (await card.boundingBox())!;
    expect(height).to.be.below(200);
    await touch(page);
    const tops = new Set<number>();
    for (const button of await card.getByRole('button').all()) tops.add((await button.boundingBox())!.y);
    expect(tops.size, 'rows of buttons').to.equal(1);
    expect(await card.getByLabel('Reason for denying').count()).to.equal(0);
    await card.getByRole('button', { name: 'Deny with a reason' }).click();
    expect(await isFocused(card.getByLabel('Reason for denying'))).to.equal(true);
    expect(await findings(page)).to.deep.equal([]);
    await page.keyboard.type('Too much');
    await page.keyboard.press('Enter');
    await page.locator('.fold.tool.failed').waitFor();
    await page.locator('.fold.tool summary').click();
    await page.getByLabel('Output of pay').getByText('Too much').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('says of a tool that no longer runs that it was left, once its answer is stopped', async () => {
    const { page, problems } = await start();
    await say(page, 'pay');
    await page.locator('.fold.tool.waiting').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.locator('.fold.tool.left', { hasText: 'left unfinished' }).waitFor();
    expect(await page.locator('.fold.tool:is(.running, .waiting)').count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });

  it('moves nothing when a message shows what can be done with it, and has no empty rows between turns', async () => {
    const { page, problems } = await start();
    for (const text of ['one', 'two']) await say(page, text);
    await answers(page, 2);
    await page.mouse.move(0, 0);
    const places = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('.message .content, .message .who:not(.unseen)')].map((it) => {
          const { top, bottom } = it.getBoundingClientRect();
          return { top, bottom };
        }),
      );
    const before = await places();
    // A question, the name of who answers, the answer; and again.
    const [asked, who, answer] = before;
    expect(who!.top - asked!.bottom, 'between turns').to.be.within(16, 28);
    expect(answer!.top - who!.bottom, 'below a name').to.be.within(4, 8);
    for (const message of await page.locator('.message').all()) {
      await message.hover();
      await message.getByRole('toolbar').waitFor();
      expect(await places()).to.deep.equal(before);
    }
    expect(problems).to.deep.equal([]);
  });

  it('has the last message edited by ArrowUp in the empty box, and comes back to it', async () => {
    const { page, problems } = await start();
    await say(page, 'one');
    await answers(page, 1);
    await page.keyboard.press('ArrowUp');
    const edit = page.getByLabel('The message, changed');
    expect(await edit.inputValue()).to.equal('one');
    expect(await isFocused(edit)).to.equal(true);
    await page.keyboard.press('Escape');
    await edit.waitFor({ state: 'detached' });
    expect(await isFocused(page.locator('.message.user'))).to.equal(true);
    await page.keyboard.press('/');
    await page.keyboard.type('x');
    await page.keyboard.press('ArrowUp');
    expect(await edit.count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });

  it('has the names of buttons beside runs, where there is room, and the last words of each', async () => {
    const { page, problems } = await start();
    await say(page, 'helpers');
    const row = (id: string) => page.locator('.runs li', { hasText: id });
    const words = (id: string) => row(id).locator('.last-words');
    await words('first').filter({ hasText: 'I have read all of it.' }).waitFor();
    await words('second').filter({ hasText: 'I read what 212 buyers say.' }).waitFor();
    for (const word of ['Steer', 'Stop'])
      expect(await row('second').getByText(word, { exact: true }).isVisible(), word).to.equal(true);
    await page.setViewportSize(PHONE);
    expect(await row('second').getByText('Steer', { exact: true }).isVisible()).to.equal(false);
    await words('second').filter({ hasText: 'I read what 212 buyers say.' }).waitFor();
    await expectToFit(page, 'runs');
    await page.getByRole('button', { name: 'Stop second' }).click();
    expect(problems).to.deep.equal([]);
  });

  it('begins with the timeline, and has a place for calls and for schedules', async () => {
    const { page, problems } = await start();
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    const names = ['Timeline', 'Network', 'Notices', 'Calls', 'Schedules', 'API'];
    expect(await links.allTextContents()).to.deep.equal(names);
    expect(await links.first().getAttribute('aria-current')).to.equal('page');
    // All of them are in sight.
    const { width, x } = (await page.locator('.pane').boundingBox())!;
    const last = (await links.last().boundingBox())!;
    expect(last.x + last.width).to.be.at.most(x + width);
    await show(page, 'Schedules');
    await page.getByRole('form', { name: 'New schedule' }).getByLabel('Message').fill('Look again');
    await page.getByLabel(/^When/).fill('3600');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Take back Look again' }).waitFor();
    await show(page, 'Calls');
    await page.getByRole('heading', { name: 'Channels and custom events' }).waitFor();
    await page.route('**/openapi.json', async (route) => {
      await page.getByRole('status', { name: 'Loading' }).waitFor();
      await route.continue();
    });
    await show(page, 'API');
    await page.locator('.method').first().waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('leads to the sources of an answer on the web, and to no other address', async () => {
    const { page, gateway, problems } = await start();
    const of = (uri: string) => ({ type: 'resource' as const, uri });
    await gateway.session('main', { anonymous: true }).import([
      { role: 'user', content: [{ type: 'text', text: 'Where is that from?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'From here.' },
          of('https://www.example.com/bees?in=summer'),
          of('javascript:globalThis.harmed=1'),
          { ...of('https://example.com/read'), text: 'What it says' },
        ],
      },
    ]);
    await page.reload();
    const answer = page.locator('.message.assistant');
    const source = answer.getByRole('link', { name: 'example.com/bees?in=summer' });
    expect(await source.getAttribute('rel')).to.equal('noopener noreferrer');
    expect(await answer.locator('a').count()).to.equal(1);
    await answer.locator('summary', { hasText: 'https://example.com/read' }).click();
    await answer.getByText('What it says').waitFor();
    expect(await findings(page)).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it('shares in two tabs, which the arrows lead through', async () => {
    const { page, problems } = await start();
    await say(page, 'one');
    await answers(page, 1);
    await page.getByRole('button', { name: 'Share…' }).click();
    const [person, link] = ['With a person', 'By a link'].map((name) => page.getByRole('tab', { name }));
    await person!.focus();
    await page.getByRole('tabpanel', { name: 'With a person' }).getByLabel('User').waitFor();
    await page.keyboard.press('ArrowRight');
    expect(await isFocused(link!)).to.equal(true);
    expect(await link!.getAttribute('aria-selected')).to.equal('true');
    expect(await page.getByLabel('User').count()).to.equal(0);
    expect(await findings(page)).to.deep.equal([]);
    await page.keyboard.press('ArrowLeft');
    // Who is meant has to be said.
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    expect(await page.getByLabel('User').evaluate((it) => it.matches(':invalid:focus'))).to.equal(true);
    expect(problems).to.deep.equal([]);
  });

  it('shows what is wrong in the place of a view that fails, and all others as they are', async () => {
    const { page } = await start();
    await page.route('**/openapi.json', (route) => route.fulfill({ json: { paths: { '/odd': null } } }));
    await show(page, 'API');
    await page.locator('.pane').getByRole('alert').waitFor();
    await say(page, 'one');
    await answers(page, 1);
    await show(page, 'Timeline');
    await page.getByRole('list', { name: /^Trace of one/ }).waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
  });

  it('on a phone: has 44 pixels for each thing that is touched, and says in words that the connection is gone', async () => {
    const { page, problems } = await start();
    await touch(page);
    await messageBox(page).fill('one');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await answers(page, 1);
    const small = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('button, a, select, summary, input')]
          .filter((it) => it.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
          .filter((it) => !it.closest('.skip, .unseen, .markdown') && it.getAttribute('type') !== 'file')
          .flatMap((it) => {
            const { width, height } = it.getBoundingClientRect();
            return Math.min(width, height) < 44
              ? [`${it.ariaLabel ?? it.textContent}: ${width} × ${height}`]
              : [];
          }),
      );
    expect(await small()).to.deep.equal([]);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Show code' }).waitFor();
    expect(await small()).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await page.getByRole('banner').getByRole('button', { name: 'Sessions' }).click();
    await page.getByRole('button', { name: 'More of main' }).waitFor();
    expect(await small()).to.deep.equal([]);
    await page.getByRole('banner').getByRole('button', { name: 'Sessions' }).click();
    const word = page.locator('.health .word');
    expect(await word.evaluate((it) => it.clientWidth)).to.be.below(2);
    await page.context().setOffline(true);
    await page.locator('.health.offline').waitFor();
    expect(await word.evaluate((it) => it.clientWidth)).to.be.above(40);
    await page.context().setOffline(false);
    await page.locator('.health.online').waitFor();
    // The keyboard takes the lower half of a phone.
    await page.setViewportSize({ width: 390, height: 420 });
    expect(await page.locator('.messages').evaluate((it) => it.clientHeight)).to.be.above(168);
    await expectToFit(page, 'a conversation');
    expect(problems).to.deep.equal([]);
  });

  it('shows pictures small, before and after they are sent, and large where they are asked for', async () => {
    const { page, problems } = await start();
    const wide = { width: 1200, height: 900 };
    const picture = await page.evaluate(async ({ width, height }) => {
      const canvas = new OffscreenCanvas(width, height);
      canvas.getContext('2d')!.fillRect(0, 0, width, height);
      const bytes = await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer();
      return [...new Uint8Array(bytes)];
    }, wide);
    expect(picture.slice(0, 4)).to.deep.equal([...PNG.subarray(0, 4)]);
    await page
      .locator('.composer input[type=file]')
      .setInputFiles({ name: 'roof.png', mimeType: 'image/png', buffer: Buffer.from(picture) });
    const small = page
      .getByRole('list', { name: 'Files of the next message' })
      .locator('li[aria-busy=false] img');
    await small.waitFor();
    expect((await small.boundingBox())!.height).to.be.within(24, 64);
    await messageBox(page).press('Enter');
    const shown = page.getByRole('button', { name: 'Open roof.png' });
    await shown.locator('img').waitFor();
    expect((await shown.boundingBox())!.width).to.be.below(320);
    await shown.click();
    const large = page.getByRole('dialog', { name: 'roof.png' });
    expect((await large.locator('img').boundingBox())!.width).to.be.above(600);
    expect(await findings(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await large.waitFor({ state: 'hidden' });
    expect(problems).to.deep.equal([]);
  });
});
