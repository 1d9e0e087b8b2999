import { once } from 'node:events';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { childrenOf, type RunNode } from '../../client/runs/index.js';
import { createGateway, defineApp, type Turn } from '../../server/index.js';
import { playgroundPlugin } from '../../server/plugins/playground/index.js';
import { textOf } from '../../shared/messages.js';
import { findings } from '../support/axe.js';
import { needChromium } from '../support/browser.js';
import { connectClient } from '../support/client.js';
import { describeDaily } from '../support/daily.js';
import { gate } from '../support/gate.js';
import { buildPlayground } from '../support/playground.js';
import { randomOf } from '../support/random.js';
import { closeLater } from '../support/resources.js';
import { answers, messageBox, openPlayground, said, say } from './playground-page.js';

/** Long enough for anything that is to be seen. */
const WAIT_MS = 10_000;
const SEED = Number(process.env.SEED ?? 1);

async function start(app: Parameters<typeof createGateway>[0]['app']) {
  const gateway = createGateway({ port: 0, app: app!, auth: { type: 'none' }, limits: { drainMs: 200 } }).use(
    playgroundPlugin({ path: '/' }),
  );
  closeLater(gateway, (it) => it.close());
  const { url } = await gateway.start();
  const opened = await openPlayground(`${url}/`);
  opened.page.setDefaultTimeout(WAIT_MS);
  return { url: url!, ...opened };
}

const app = (run: (turn: Turn) => unknown) => defineApp({ run: run as never });

const treeIn = (page: Page, label: string) => page.getByRole('list', { name: label, exact: true });
/** A run that the page draws, by its name. */
const runOf = (page: Page, name: string) =>
  page.locator('[data-run]', { has: page.locator('> .run strong', { hasText: name }) });

/** The tree as the page draws it: each run by the names above it and its own. */
const drawn = (page: Page, label: string): Promise<readonly string[]> =>
  treeIn(page, label)
    .locator('[data-run]')
    .evaluateAll((items) =>
      items.map((item) => {
        let path = '';
        for (let at: Element | null | undefined = item; at; at = at.parentElement?.closest('[data-run]'))
          path = `/${at.querySelector('strong')!.textContent}${path}`;
        return path;
      }),
    );

const pathsOf = (runs: readonly RunNode[], above = ''): readonly string[] =>
  runs.flatMap(({ name, children }) => [`${above}/${name}`, ...pathsOf(children, `${above}/${name}`)]);

describeDaily('the runs of a session in the playground, in Chromium', 2, function () {
  this.timeout(120_000);
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  it('are drawn as a tree, steered and stopped one by one, and folded under the finished answer', async () => {
    const held = gate();
    const { page, problems } = await start(
      app(async function* (turn) {
        const helpers = ['sources', 'numbers', 'doubts'].map((id) =>
          turn.spawn(id, {
            id,
            message: turn.text,
            run: async function* (helper: Turn) {
              yield 'Works. ';
              await Promise.race([held.passed, once(helper.signal, 'abort')]);
              for (const told of helper.steered()) yield `(Told: ${textOf(told)}.) `;
            } as never,
          }),
        );
        yield 'They work.\n\n';
        for (const { id, result } of helpers) {
          const { stopReason } = await result;
          yield `- ${id}: ${stopReason === 'end' ? 'done' : '(ended before it was done)'}\n`;
        }
      }),
    );
    await say(page, 'bees');
    await runOf(page, 'doubts').waitFor();
    expect(await drawn(page, 'Child runs')).to.deep.equal(['/sources', '/numbers', '/doubts']);
    await page.getByRole('button', { name: 'Stop numbers' }).click();
    await runOf(page, 'numbers').getByText('Stopped').waitFor();
    expect(await page.getByRole('button', { name: 'Stop numbers' }).count()).to.equal(0);
    // By the keyboard alone.
    await page.getByRole('button', { name: 'Steer doubts' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('Only this year');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Message for doubts' }).waitFor({ state: 'detached' });
    expect(await findings(page)).to.deep.equal([]);
    held.open();
    await answers(page, 1);
    const past = page.locator('.past-runs');
    expect(await treeIn(page, 'Child runs').count()).to.equal(0);
    await past.getByText('3 child runs').click();
    await runOf(page, 'doubts').waitFor();
    expect(await drawn(page, 'Child runs')).to.deep.equal(['/sources', '/numbers', '/doubts']);
    await runOf(page, 'doubts').locator('summary').click();
    await runOf(page, 'doubts').getByText('Told: Only this year', { exact: true }).waitFor();
    await said(page, '(ended before it was done)').waitFor();
    expect(await page.getByRole('button', { name: /^(Stop|Steer) / }).count()).to.equal(0);
    expect(await findings(page)).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it(`are the same tree after each reload at a random moment while ten children run, and at the end (seed ${SEED})`, async () => {
    const random = randomOf(SEED);
    const held = gate();
    const help = async function* (turn: Turn): AsyncGenerator<string> {
      if (turn.text.length === 2) yield turn.spawn('below', { message: turn.text.repeat(2), run: help }).id;
      while (!isOver) {
        yield `${turn.text} `;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      yield 'done';
    };
    let isOver = false;
    void held.passed.then(() => {
      isOver = true;
    });
    const ids = Array.from({ length: 7 }, (_, at) => (at < 3 ? `c${at}` : `h${at}x`));
    const { url, page, problems } = await start(
      app(async function* (turn) {
        const all = ids.map((id) => turn.spawn(id, { id, message: id, run: help }));
        yield 'They work. ';
        for (const { result } of all) yield (await result).stopReason;
      }),
    );
    await say(page, 'go');
    await treeIn(page, 'Child runs').locator('[data-run]').nth(9).waitFor();
    const whole = await drawn(page, 'Child runs');
    expect(whole).to.deep.equal(
      ids.flatMap((id) => (id.length === 2 ? [`/${id}`, `/${id}/below:1`] : [`/${id}`])),
    );
    const client = connectClient(url, { token: undefined });
    const events = client.events('main', { from: 'now' });
    for (let round = 0; round < 8; round++) {
      // A random number of events later, wherever that is.
      for (let more = Math.floor(random() * 40); more > 0; more--) await events.next();
      await page.reload();
      await treeIn(page, 'Child runs').locator('[data-run]').nth(9).waitFor();
      expect(await drawn(page, 'Child runs'), `round ${round}`).to.deep.equal(whole);
    }
    held.open();
    await answers(page, 1);
    for (const _ of ['live', 'after a reload']) {
      await page.locator('.past-runs').getByText('10 child runs').click();
      await treeIn(page, 'Child runs').locator('[data-run]').nth(9).waitFor();
      expect(await drawn(page, 'Child runs')).to.deep.equal(whole);
      await page.reload();
      await answers(page, 1);
    }
    const { messages } = await client.session('main').state();
    expect(pathsOf(childrenOf(messages.at(-1)!))).to.deep.equal(whole);
    expect(problems).to.deep.equal([]);
  });

  it('are asked for beside the running answer, and say what they wait for', async () => {
    const held = gate();
    const { page, problems } = await start(
      app(async function* (turn) {
        yield `About ${turn.text}. `;
        if (turn.text === 'long') await held.passed;
        else yield `You like ${await turn.ask({ name: 'colour' })}. `;
      }),
    );
    await say(page, 'long');
    await said(page, 'About long.').waitFor();
    await page.getByRole('button', { name: /while an answer goes on/ }).click();
    await page.getByRole('menuitemradio', { name: 'Ask beside it' }).click();
    await messageBox(page).fill('a question');
    await messageBox(page).press('Enter');
    const beside = page.getByRole('region', { name: 'Beside the conversation' });
    await beside.getByText('About a question.').waitFor();
    await beside.getByText('waits for you: colour').waitFor();
    expect(await findings(page)).to.deep.equal([]);
    await page.reload();
    await beside.getByText('About a question.').waitFor();
    const card = page.getByRole('region', { name: 'Question colour' });
    await card.getByRole('textbox').fill('red');
    await card.getByRole('button', { name: 'Answer' }).click();
    // It joins the conversation, before the answer that goes on.
    await answers(page, 1);
    await beside.waitFor({ state: 'detached' });
    held.open();
    await answers(page, 2);
    const shown = await page.locator('.message .content').allTextContents();
    expect(shown.map((text) => text.trim())).to.deep.equal([
      ...['long', 'a question', 'About a question. You like red.', 'About long.'],
    ]);
    expect(problems).to.deep.equal([]);
  });
});
