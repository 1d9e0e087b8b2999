import { once } from 'node:events';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { createGateway, defineApp, tool } from '../../server/index.js';
import { playgroundPlugin } from '../../server/plugins/playground/index.js';
import { findings } from '../support/axe.js';
import { needChromium } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import { answers, expectToFit, messageBox, openPlayground, said, say, show } from './playground-page.js';

/** Messages of a long conversation. */
const MANY = 5000;

async function start(
  run: Parameters<typeof defineApp>[0]['run'] = async function* (turn) {
    yield turn.text;
  },
) {
  const gateway = createGateway({
    port: 0,
    app: defineApp({
      run,
      tools: {
        pay: tool({ schema: z.object({}), confirm: true, handler: () => 'paid' }),
        bad: tool({
          schema: z.object({}),
          handler: () => {
            throw new Error('The carrier does not answer');
          },
        }),
      },
    } as Parameters<typeof defineApp>[0]),
    auth: { type: 'none' },
    clientMessages: { import: true },
    limits: { drainMs: 200 },
  }).use(playgroundPlugin({ path: '/' }));
  closeLater(gateway, (it) => it.close());
  const { url } = await gateway.start();
  const opened = await openPlayground(`${url}/`);
  await opened.page.setViewportSize({ width: 1360, height: 850 });
  return { ...opened, gateway, url: url! };
}

const focused = (page: Page): Promise<string> =>
  page.evaluate(
    () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.tagName ?? '',
  );

/** What the page's main thread takes of a processor from now on, for each of some frames. */
async function cpuOf(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () =>
    Object.fromEntries(
      (await devtools.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value * 1000]),
    );
  const before = await read();
  return async () => {
    const after = await read();
    return (frames: number) =>
      ['TaskDuration', 'ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration']
        .map(
          (name) =>
            `${name.replace('Duration', '')} ${((after[name]! - before[name]!) / frames).toFixed(1)} ms`,
        )
        .join(', ');
  };
}

describeDaily('the design of the playground', 3, () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  it('shows what its icons are, to a pointer that rests there and to the keyboard', async () => {
    const { page, problems } = await start();
    const attach = page.getByRole('button', { name: 'Attach' });
    const tip = page.locator('.tip');
    await attach.hover();
    await tip.filter({ hasText: 'Attach' }).waitFor();
    await page.mouse.move(0, 0);
    await tip.waitFor({ state: 'hidden' });
    await messageBox(page).focus();
    await page.keyboard.press('Tab');
    await tip.filter({ hasText: 'Attach' }).waitFor();
    await page.keyboard.press('Escape');
    await tip.waitFor({ state: 'hidden' });
    expect(problems).to.deep.equal([]);
  });

  it('shows the call behind each control by one switch, also after a reload', async () => {
    const { page, problems } = await start();
    await say(page, 'Hello');
    await answers(page, 1);
    const code = page.getByRole('region', { name: /^Code:/ });
    expect(await code.count()).to.equal(0);
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    await page.getByRole('region', { name: 'Code: answer again' }).waitFor();
    await messageBox(page).fill("It's me");
    const send = page.getByRole('region', { name: 'Code: send' });
    expect(await send.locator('pre').textContent()).to.contain('client.send("main", "It\'s me")');
    await send.getByRole('button', { name: 'curl' }).click();
    expect(await send.locator('pre').textContent()).to.contain(`"message":"It'\\''s me"`);
    await page.reload();
    await send.waitFor();
    expect(await page.getByRole('region', { name: 'Code: list the sessions' }).textContent()).to.contain(
      'curl',
    );
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    expect(await code.count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });

  it('leads by the arrows from message to message, and by Tab to what can be done with one', async () => {
    const { page, problems } = await start();
    for (const text of ['one', 'two']) {
      await say(page, text);
      await said(page, text).nth(1).waitFor();
    }
    await answers(page, 2);
    await page.locator('.message').last().focus();
    for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowUp');
    const first = page.locator('.message').first();
    expect(await first.evaluate((it) => it === document.activeElement)).to.equal(true);
    await page.keyboard.press('Tab');
    while ((await focused(page)) !== 'Edit') await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('other');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await said(page, 'two').first().waitFor({ state: 'detached' });
    await said(page, 'other').nth(1).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('begins in the box, is led back there by “/”, stops an answer by Escape, and names its tab', async () => {
    const { page, problems } = await start(async function* (turn) {
      if (turn.text === 'ask') yield `Hello ${await turn.ask({ name: 'Your name?' })}`;
      yield 'I wait.';
      await once(turn.signal, 'abort');
    });
    await messageBox(page).waitFor();
    expect(await focused(page)).to.equal('TEXTAREA');
    expect(await page.title()).to.equal('main · Playground');
    await page.keyboard.type('a/b');
    await page.keyboard.press('Enter');
    await said(page, 'I wait.').waitFor();
    await page.locator('.message').last().focus();
    await page.keyboard.press('/');
    expect(await focused(page)).to.equal('TEXTAREA');
    expect(await messageBox(page).inputValue()).to.equal('');
    await page.keyboard.press('Escape');
    await page.locator('.outcome', { hasText: 'Stopped' }).waitFor();
    await said(page, 'a/b').waitFor();
    await say(page, 'ask');
    await page.getByRole('region', { name: 'Question Your name?' }).waitFor();
    await page.evaluate(() => {
      location.hash = '#/chat/other';
    });
    await page.waitForFunction(() => document.title === '(1) other · Playground');
    expect(problems).to.deep.equal([]);
  });

  it('on a touch screen: begins a line by Enter, has boxes that no phone zooms in on, and room for a thumb', async () => {
    const { page, problems } = await start();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await page.waitForFunction(() => matchMedia('(pointer: coarse)').matches);
    await messageBox(page).fill('one');
    await messageBox(page).press('Enter');
    await page.keyboard.type('two');
    expect(await messageBox(page).inputValue()).to.equal('one\ntwo');
    const size = await messageBox(page).evaluate((it) => Number.parseFloat(getComputedStyle(it).fontSize));
    expect(size).to.be.at.least(16);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await answers(page, 1);
    const actions = page.locator('.message.assistant .actions button');
    expect(await actions.count()).to.be.above(3);
    for (const action of await actions.all()) {
      const { width, height } = (await action.boundingBox())!;
      expect(Math.min(width, height)).to.be.at.least(44);
    }
    await expectToFit(page, 'a conversation');
    expect(problems).to.deep.equal([]);
  });

  it('finds a session by any of its words, and opens one by its name', async () => {
    const { page, problems } = await start();
    await say(page, 'about invoices');
    await answers(page, 1);
    const list = page.getByRole('navigation', { name: 'Sessions' });
    await list.getByRole('searchbox').focus();
    await page.keyboard.type('orders');
    await list.getByText('Nothing is called “orders”.').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/chat\/orders$/);
    await say(page, 'hello');
    await answers(page, 1);
    await list.getByRole('searchbox').focus();
    await page.keyboard.type('INVOICES');
    await list.getByRole('link', { name: /orders/ }).waitFor({ state: 'detached' });
    expect(await list.getByRole('link').count()).to.equal(1);
    await list.getByRole('link', { name: /main/ }).click();
    await said(page, 'about invoices').first().waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('renames in place by F2, and leaves it by Escape', async () => {
    const { page, problems } = await start();
    await say(page, 'Hello');
    await answers(page, 1);
    const list = page.getByRole('navigation', { name: 'Sessions' });
    await list.getByRole('link', { name: /main/ }).focus();
    await page.keyboard.press('F2');
    await page.keyboard.type('Not this');
    await page.keyboard.press('Escape');
    await list.getByRole('link', { name: /main/ }).dblclick();
    await page.keyboard.type('The weather');
    await page.keyboard.press('Enter');
    await list.getByRole('link', { name: /The weather/ }).waitFor();
    await page.getByRole('banner').locator('.place', { hasText: 'The weather' }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('leads by keyboard from the inbox to the session in which something waits', async () => {
    const { page, problems } = await start(async function* (turn) {
      yield `Hello ${await turn.ask({ name: 'Your name?' })}`;
    });
    await say(page, 'ask');
    await page.getByRole('region', { name: 'Question Your name?' }).waitFor();
    await page.evaluate(() => {
      location.hash = '#/chat/other';
    });
    const bell = page.getByRole('button', { name: 'Inbox, 1 new' });
    const inbox = page.getByRole('region', { name: 'Inbox' });
    await bell.focus();
    await page.keyboard.press('Enter');
    await inbox.getByText('0 unread, 1 for you to answer').waitFor();
    await page.keyboard.press('Escape');
    await inbox.waitFor({ state: 'hidden' });
    expect(await focused(page)).to.equal('Inbox, 1 new');
    await page.keyboard.press('Enter');
    await inbox.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/chat\/main$/);
    await inbox.waitFor({ state: 'hidden' });
    await page.getByRole('region', { name: 'Question Your name?' }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('says that it is offline, keeps what is written then, and hides its panel for good', async () => {
    const { page, problems } = await start();
    await say(page, 'Hello');
    await answers(page, 1);
    await page.context().setOffline(true);
    await page.getByText('No connection.').waitFor();
    await say(page, 'Later');
    await page.getByText('Waits for a connection').waitFor();
    expect(await page.getByRole('button', { name: 'Stop' }).count()).to.equal(0);
    await page.context().setOffline(false);
    await answers(page, 2);
    await page.getByText('No connection.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Panel' }).click();
    await page.reload();
    await answers(page, 2);
    expect(await page.getByRole('navigation', { name: 'Views' }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Panel' }).click();
    await show(page, 'Timeline');
    expect(problems).to.deep.equal([]);
  });

  it('keeps what is written and chosen while other sessions and views are shown, and what is written over a reload', async () => {
    const { page, problems } = await start();
    const chosen = page.getByRole('list', { name: 'Files of the next message' });
    const go = async (sessionId: string) => {
      await page.evaluate((id) => {
        location.hash = `#/chat/${id}`;
      }, sessionId);
      await page.getByRole('region', { name: `Conversation ${sessionId}` }).waitFor();
    };
    await messageBox(page).fill('Half a thought');
    await page
      .locator('.composer input[type=file]')
      .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('a plan') });
    await go('other');
    expect(await messageBox(page).inputValue()).to.equal('');
    expect(await chosen.count()).to.equal(0);
    await messageBox(page).fill('Another thought');
    await go('main');
    expect(await messageBox(page).inputValue()).to.equal('Half a thought');
    await chosen.getByText('plan.txt').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await show(page, 'Timeline');
    await show(page, 'Chat');
    expect(await messageBox(page).inputValue()).to.equal('Half a thought');
    await page.locator('.chips li[aria-busy=false]', { hasText: 'plan.txt' }).waitFor();
    await messageBox(page).press('Enter');
    await answers(page, 1);
    expect(await page.locator('.message.user', { hasText: 'plan.txt' }).count()).to.equal(1);
    await go('other');
    await page.reload();
    await messageBox(page).waitFor();
    expect(await messageBox(page).inputValue()).to.equal('Another thought');
    await go('main');
    expect(await messageBox(page).inputValue()).to.equal('');
    expect(problems).to.deep.equal([]);
  });

  it('has the last words of a session without their marks, and no answer that took no time', async () => {
    const { page, problems } = await start(async function* () {
      yield '# Found\n\n## Parcels\n\n- [x] **two**';
    });
    await say(page, 'Hello');
    await answers(page, 1);
    await page.locator('.entry .preview', { hasText: /^Found Parcels two$/ }).waitFor();
    expect(await page.locator('.outcome').innerText())
      .to.match(/\d (?:ms|s)/)
      .and.not.include('0.0 s');
    expect(problems).to.deep.equal([]);
  });

  it('draws a run: what took how long, where it was cut, and the event behind each bar', async () => {
    let goOn = () => {};
    const { page, problems } = await start(async function* () {
      yield 'before ';
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      yield 'behind';
    });
    await say(page, 'count');
    await said(page, 'before').waitFor();
    await page.getByRole('banner').getByRole('button', { name: 'Cut connection' }).click();
    await page.locator('.tally.good', { hasText: 'resumed: 0 lost' }).waitFor();
    goOn();
    await answers(page, 1);
    await show(page, 'Timeline');
    const drawing = page.getByRole('region', { name: /^Run count: .*end, \d parts, 1 cuts$/ });
    await drawing.getByRole('img', { name: /^Cut at .*resumed .* later$/ }).waitFor();
    await drawing.getByRole('button', { name: /^text: / }).click();
    await page.locator('.events .chosen', { hasText: 'content_delta' }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('says of a tool that it waits for a person, or failed, and not that it runs, or ran', async () => {
    const { page, gateway, problems } = await start(async function* (turn) {
      yield 'Let me look. ';
      await turn.callTool('bad', {}).catch(() => {});
      await turn.callTool('pay', {});
      throw new Error('no');
    });
    await say(page, 'pay');
    await page.locator('.fold.tool.waiting', { hasText: 'waits for you' }).waitFor();
    await page.locator('.fold.tool.failed', { hasText: 'bad' }).waitFor();
    expect(await page.locator('.fold.tool.running').count()).to.equal(0);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('.fold.tool.done', { hasText: 'pay' }).waitFor();
    for (const summary of await page.locator('.fold.tool summary').all()) await summary.click();
    expect(await findings(page)).to.deep.equal([]);
    await answers(page, 1);
    await show(page, 'Timeline');
    const drawing = page.getByRole('region', { name: /^Run pay: .*error/ });
    const failed = drawing.getByRole('button', { name: /^bad: .*, failed$/ });
    const paid = drawing.getByRole('button', { name: /^pay: .*ms$|^pay: .* s$/ });
    const groundOf = (bar: typeof failed) => bar.evaluate((it) => getComputedStyle(it).backgroundColor);
    expect(await groundOf(failed)).to.not.equal(await groundOf(paid));
    await page.locator('.shape figcaption .bad', { hasText: 'error' }).waitFor();
    expect(problems).to.deep.equal([]);
    await gateway.close();
  });

  it(`renders nothing of ${MANY} messages while an answer grows, and lays out those in sight alone`, async function () {
    this.timeout(240_000);
    let more = () => {};
    const { page, gateway, problems } = await start(async function* () {
      for (let at = 0; at < 60; at++) {
        await new Promise((resolve) => setTimeout(resolve, 16));
        yield `${at} `;
      }
      await new Promise<void>((resolve) => {
        more = resolve;
      });
    });
    const session = gateway.session('main', { anonymous: true });
    const messages = Array.from({ length: MANY }, (_, at) => ({
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: [
        { type: 'text' as const, text: `Message ${at}: **some** words about \`${at}\`.\n\n- and\n- more` },
      ],
    }));
    await session.import(messages);
    await page.reload();
    const rows = page.locator('.message');
    const earlier = page.getByRole('button', { name: 'Earlier messages' });
    await earlier.waitFor();
    for (let known = await rows.count(); known < MANY; known = await rows.count()) {
      await earlier.evaluate((it) => (it as HTMLElement).click());
      await page.waitForFunction((before) => document.querySelectorAll('.message').length > before, known);
    }
    await page.evaluate(() => {
      const list = document.querySelector('.messages')!;
      list.scrollTop = list.scrollHeight;
    });
    await say(page, 'go');
    await page.locator('.growing').waitFor();
    const cpu = await cpuOf(page);
    const seen = await page.evaluate(async () => {
      const list = document.querySelector('.messages')!;
      let settled = 0;
      const watcher = new MutationObserver((changes) => {
        for (const { target } of changes)
          if (!(target as Element).parentElement?.closest('.message:has(.growing)')) settled += 1;
      });
      watcher.observe(list, { subtree: true, childList: true, characterData: true });
      const frames: number[] = [];
      for (let before = performance.now(); frames.length < 50; ) {
        const now = await new Promise<number>(requestAnimationFrame);
        frames.push(now - before);
        before = now;
      }
      watcher.disconnect();
      const drawn = [...document.querySelectorAll('.message .content')].filter((it) =>
        it.checkVisibility({ contentVisibilityAuto: true }),
      ).length;
      return { settled, drawn, frames };
    });
    const used = await cpu();
    more();
    const sorted = seen.frames.slice(1).sort((one, other) => one - other);
    // Told, and not judged: the machine may have other things to do.
    console.log(
      `      a frame: ${sorted[24]!.toFixed(1)} ms (median), ${sorted[46]!.toFixed(1)} ms (95%), of which the page takes ${used(seen.frames.length)}`,
    );
    expect(seen.settled, 'changes in settled messages').to.equal(0);
    expect(seen.drawn, 'messages that are laid out').to.be.below(100);
    expect(problems).to.deep.equal([]);
  });
});
