import { expect } from 'chai';
import { z } from 'zod';
import { ModelCall } from '../../server/diagnostics/model-call.js';
import { createGateway, defineApp, type GatewayConfig, tool } from '../../server/index.js';
import { type PlaygroundOptions, playgroundPlugin } from '../../server/plugins/playground/index.js';
import { replaySession } from '../../testing/index.js';
import { findings } from '../support/axe.js';
import { needChromium } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import { answers, messageBox, openPlayground, said, say, show } from './playground-page.js';

/** Answers word by word, looks up what fails, and has a helper. */
const app = defineApp({
  description: 'Says how it went',
  suggestions: [{ text: 'Hello', shows: 'A greeting' }],
  tools: {
    track: tool({
      schema: z.object({}),
      handler: () => {
        throw new Error('The carrier does not answer');
      },
    }),
  },
  async *run(turn) {
    if (/helper/.test(turn.text)) {
      const { result } = turn.spawn('looker', { id: 'looker', message: 'look', run: () => 'I looked.' });
      await result;
    }
    if (/parcel/.test(turn.text)) {
      await turn.step('find the parcel', async () => console.info('found %d', 2));
      const call = new ModelCall(turn, { adapter: 'openai', model: 'words-1', settings: {} });
      await call.during(async () => {});
      call.done({ finishReasons: ['stop'], content: [], usage: { inputTokens: 7, outputTokens: 3 } });
    }
    for (const word of `You asked for ${turn.text}`.split(' ')) yield `${word} `;
    if (/parcel/.test(turn.text)) await turn.callTool('track', {}).catch(() => {});
    turn.usage({ inputTokens: 118, outputTokens: 46, totalTokens: 164 });
  },
});

async function start(served: Partial<GatewayConfig> = { app }, options: PlaygroundOptions = {}) {
  const gateway = createGateway({
    port: 0,
    ...served,
    auth: { type: 'none' },
    limits: { drainMs: 200 },
  }).use(playgroundPlugin({ path: '/', traces: true, ...options }));
  closeLater(gateway, (it) => it.close());
  const { url } = await gateway.start();
  const opened = await openPlayground(`${url}/`);
  await opened.page.setViewportSize({ width: 1360, height: 850 });
  return { ...opened, gateway, url: url! };
}

describeDaily('the face of the playground', 3, () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  it('goes by Ctrl K to views, actions and sessions, new ones too, and tells its keys', async () => {
    const { page, problems } = await start();
    await page.getByRole('button', { name: 'Hello' }).waitFor();
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await page.keyboard.press('Control+K');
    await palette.getByRole('combobox').waitFor();
    await page.keyboard.type('call');
    await palette.getByRole('option', { name: 'Calls', selected: true }).waitFor();
    expect(await findings(page)).to.deep.equal([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Methods' }).waitFor();
    await page.keyboard.press('Control+K');
    await palette.getByRole('combobox').waitFor();
    await page.keyboard.type('orders');
    await palette.getByRole('option', { name: /Open “orders”/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/chat\/orders$/);
    await palette.waitFor({ state: 'hidden' });
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Network' }).focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Stop the answer').waitFor();
    await page.keyboard.press('Escape');
    expect(problems).to.deep.equal([]);
  });

  it('finds what was said by Ctrl K, first in the conversation that is open, and leads to it', async () => {
    const { page, gateway, problems } = await start();
    const say = (key: string, text: string) => gateway.session(key, { anonymous: true }).send(text).result;
    for (const key of ['main', 'other']) await say(key, `a ferry from ${key}`);
    for (let at = 0; at < 12; at++) await say('main', `more ${at}`);
    await page.reload();
    await page.getByText('more 11').first().waitFor();
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await page.keyboard.press('Control+K');
    await palette.getByRole('combobox').waitFor();
    await page.keyboard.type('ferry');
    await palette
      .getByRole('option', { name: /^other.*ferry from other/ })
      .first()
      .waitFor();
    const here = palette.getByRole('option', { name: /^In this conversation/ }).first();
    await here.waitFor();
    expect(await here.locator('mark').first().textContent()).to.equal('ferry');
    expect(await findings(page)).to.deep.equal([]);
    await here.click();
    await page.waitForURL(/#\/chat\/main\/./);
    const row = page.locator('[data-message]', { hasText: 'a ferry from main' }).first();
    await row.evaluate(
      (it) =>
        new Promise<void>((resolve) => {
          new IntersectionObserver(([seen]) => seen!.isIntersecting && resolve()).observe(it);
        }),
    );
    expect(problems).to.deep.equal([]);
  });

  it('has one stop of the Tab key for all sessions, and a way past them', async () => {
    const { page, gateway, problems } = await start();
    for (let at = 10; at < 22; at++) await gateway.session(`s${at}`, { anonymous: true }).send('hi').result;
    await page.reload();
    const list = page.getByRole('navigation', { name: 'Sessions' });
    await list.getByRole('link', { name: /s21/ }).waitFor();
    await list.getByRole('searchbox').focus();
    let stops = 0;
    do {
      await page.keyboard.press('Tab');
      stops += 1;
    } while (await list.evaluate((it) => it.contains(document.activeElement)));
    expect(stops, 'stops from the search to behind the list').to.be.at.most(6);
    await list.getByRole('link', { name: /s21/ }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement!.textContent)).to.contain('s20');
    await page.getByRole('button', { name: 'To the message box' }).focus();
    await page.keyboard.press('Enter');
    expect(await messageBox(page).evaluate((it) => it === document.activeElement)).to.equal(true);
    expect(problems).to.deep.equal([]);
  });

  it('leaves the conversation room where it is enlarged four times', async () => {
    const { page, problems } = await start();
    await say(page, 'a parcel');
    await answers(page, 1);
    await page.setViewportSize({ width: 320, height: 256 });
    const height = await page.locator('.messages').evaluate((it) => it.clientHeight);
    expect(height).to.be.at.least(128);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).to.be.at.most(320);
    expect(problems).to.deep.equal([]);
  });

  it('prints the conversation, and nothing around it', async () => {
    const { page, problems } = await start();
    await say(page, 'a parcel');
    await answers(page, 1);
    await page.emulateMedia({ media: 'print' });
    await said(page, 'You asked for a parcel').waitFor();
    for (const part of ['.side', '.top', '.pane', '.composer', '.actions'])
      expect(await page.locator(part).first().isVisible(), part).to.equal(false);
    expect(await page.locator('.messages').evaluate((it) => getComputedStyle(it).overflowY)).to.equal(
      'visible',
    );
    expect(problems).to.deep.equal([]);
  });

  it('has one row above the conversation on a phone, its views at the thumb, and can be installed', async () => {
    const { page, problems, url } = await start();
    await page.setViewportSize({ width: 390, height: 844 });
    await say(page, 'a parcel');
    await answers(page, 1);
    const messages = (await page.locator('.messages').boundingBox())!;
    expect(messages.y, 'what is above').to.be.at.most(56);
    for (const link of await page.getByRole('navigation', { name: 'Views' }).getByRole('link').all()) {
      const { y, height } = (await link.boundingBox())!;
      expect(height).to.be.at.least(44);
      expect(y).to.be.above(messages.y + messages.height);
    }
    await show(page, 'Timeline');
    await page.getByRole('list', { name: /^Trace of/ }).waitFor();
    expect(await findings(page)).to.deep.equal([]);
    const path = await page.locator('link[rel=manifest]').getAttribute('href');
    const address = new URL(path!, `${url}/`);
    const manifest = await fetch(address);
    expect(manifest.headers.get('content-type')).to.equal('application/manifest+json');
    const { start_url, display } = (await manifest.json()) as { start_url: string; display: string };
    expect([new URL(start_url, address).href, display]).to.deep.equal([`${url}/`, 'standalone']);
    expect(problems).to.deep.equal([]);
  });

  it('leads from a message to its run: a tree with times, tokens and failures, searched and filtered', async () => {
    const { page, problems } = await start();
    await say(page, 'a helper and a parcel');
    await answers(page, 1);
    await say(page, 'nothing');
    await answers(page, 2);
    await page.locator('.message.assistant').first().hover();
    await page.locator('.message.assistant').first().getByRole('button', { name: 'Show its run' }).click();
    const trace = page.getByRole('list', { name: 'Trace of a helper and a parcel' });
    await trace.getByText('118 in, 46 out').first().waitFor();
    const child = trace.locator('li li[data-kind="run"]', { hasText: 'looker' });
    await child
      .getByText(/\+\d+ ms/)
      .first()
      .waitFor();
    const row = (name: string) => trace.locator('.row', { hasText: name }).first();
    const colour = (name: string) =>
      row(name)
        .locator('.name')
        .evaluate((it) => getComputedStyle(it).color);
    expect(await colour('track')).to.not.equal(await colour('looker'));
    await row('track').click();
    await page.locator('.events .chosen', { hasText: 'tool_use' }).waitFor();
    // Pieces of text that follow each other are one row.
    expect(await page.locator('.events .type.content_delta').count()).to.be.below(4);
    await page.getByLabel('Show events of').selectOption('failures');
    expect(await page.locator('.events .type').allTextContents()).to.deep.equal(['tool_result']);
    await page.getByLabel('Show events of').selectOption('all');
    await page.getByRole('searchbox', { name: 'Search the events' }).fill('carrier does not');
    await page.waitForFunction(() => document.querySelectorAll('.events li').length <= 2);
    expect(await findings(page)).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it('tells of a run its steps, calls of models with their tokens, stacks, and the lines that its app wrote', async () => {
    const { page, problems } = await start();
    await say(page, 'a parcel');
    await answers(page, 1);
    await show(page, 'Timeline');
    const trace = page.getByRole('list', { name: 'Trace of a parcel' });
    await trace.locator('li[data-kind="step"]', { hasText: 'find the parcel' }).waitFor();
    const model = trace.locator('li[data-kind="model"]', { hasText: 'words-1' });
    await model.getByText('7 in, 3 out').waitFor();
    await model.getByText(/^\+\d+ ms/).waitFor();
    await trace.locator('.log li', { hasText: 'found 2' }).waitFor();
    await trace.getByText('Stack of track').click();
    await trace.getByText(/Error: The carrier does not answer\s+at /).waitFor();
    expect(await findings(page)).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it('has a session run with the app as it is now, and shows where it parts from what was', async () => {
    let now = 'red';
    const painter = defineApp({ run: ({ text }) => `${text} in ${now}` });
    const replay: PlaygroundOptions['replay'] = (replaying) => replaySession({ ...replaying, app: painter });
    const { page, problems } = await start({ app: painter }, { replay });
    await say(page, 'a car');
    await said(page, 'a car in red').waitFor();
    await show(page, 'Timeline');
    await page.getByRole('button', { name: 'Replay with the app as it is now' }).click();
    await page.getByText('The same: 1 turn').waitFor();
    now = 'blue';
    await page.getByRole('button', { name: 'Replay with the app as it is now' }).click();
    await page.getByText('Differs in turn 1, answer, at').waitFor();
    expect(await page.locator('.replay pre').textContent()).to.match(/a car in red.*a car in blue/);
    await page.getByLabel('Answers may differ').check();
    await page.getByRole('button', { name: 'Replay with the app as it is now' }).click();
    await page.getByText('The same: 1 turn').waitFor();
    expect(await findings(page)).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it('runs a message again with another text, and shows both runs beside each other', async () => {
    const { page, problems } = await start();
    await say(page, 'a red car');
    await answers(page, 1);
    await show(page, 'Timeline');
    await page.getByRole('button', { name: 'Run it again…' }).click();
    await page.getByLabel('The message, as it is asked again').fill('a blue car');
    await page.getByRole('button', { name: 'Run it again', exact: true }).click();
    await said(page, 'You asked for a blue car').waitFor();
    await page.getByText('2 of 2', { exact: true }).first().waitFor();
    await page.getByLabel('Compare with another run').selectOption({ label: '1: a red car' });
    const table = page.getByRole('table', { name: 'Two runs' });
    expect(await table.locator('del').allTextContents()).to.deep.equal([' red']);
    expect(await table.locator('ins').allTextContents()).to.deep.equal([' blue']);
    expect(await findings(page)).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it('runs the message of any event again in a copy of the session, or with another app', async () => {
    const { page, problems, gateway } = await start({
      apps: {
        one: app,
        two: defineApp({ run: ({ text, history }) => `Two heard ${text} after ${history.length}` }),
      },
      defaultApp: 'one',
      clientMessages: { import: () => true },
    });
    for (const [at, text] of ['first', 'second', 'third'].entries()) {
      await say(page, text);
      await answers(page, at + 1);
    }
    await show(page, 'Timeline');
    const again = async (where: string, text: string) => {
      await page.getByRole('searchbox', { name: 'Search the events' }).fill('You asked for second');
      await page.locator('.events .type.message_end').first().click();
      await page.locator('.shape strong', { hasText: 'second' }).waitFor();
      await page.getByRole('button', { name: 'Run it again…' }).click();
      await page.getByLabel('The message, as it is asked again').fill(text);
      await page.getByLabel('Where it runs').selectOption(where);
      await page.getByRole('button', { name: 'Run it again', exact: true }).click();
    };
    await again('in a copy of this session', 'another second');
    await said(page, 'You asked for another second').waitFor();
    expect(new URL(page.url()).hash).to.match(/^#\/timeline\/main-/);
    expect(await said(page, 'You asked for first').count()).to.equal(1);
    expect(await said(page, 'third').count()).to.equal(0);
    await page.goBack();
    await said(page, 'You asked for third').waitFor();
    await again('in a session of two', 'second for two');
    await said(page, 'Two heard second for two after 2').waitFor();
    const { sessions } = await gateway.execute('sessions', {}, { user: { id: 'anonymous' } });
    expect(sessions).to.have.length(3);
    expect(await findings(page)).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });

  it('runs a message again with another output of a tool, and shows what it changes', async () => {
    const forecaster = defineApp({
      tools: { weather: tool({ handler: () => ({ sky: 'clear' }) }) },
      async *run(turn) {
        const { sky } = (await turn.callTool('weather', { city: 'Oslo' } as never)) as { sky: string };
        yield `It is ${sky}`;
      },
    });
    const { page, problems } = await start({ app: forecaster, clientMessages: { toolOutputs: true } });
    await say(page, 'and in Oslo?');
    await said(page, 'It is clear').waitFor();
    await show(page, 'Timeline');
    await page.getByRole('button', { name: 'Run it again…' }).click();
    await page.locator('.again summary', { hasText: 'Output of weather' }).click();
    const output = page.getByLabel('The output of weather, in JSON');
    expect(JSON.parse(await output.inputValue())).to.deep.equal({ sky: 'clear' });
    expect(await findings(page)).to.deep.equal([]);
    await output.fill('{ "sky": ');
    await page.getByRole('button', { name: 'Run it again', exact: true }).click();
    await page.getByText('An output is not valid JSON.').waitFor();
    await output.fill('{ "sky": "rainy" }');
    await page.getByLabel('Where it runs').selectOption('in a copy of this session');
    await page.getByRole('button', { name: 'Run it again', exact: true }).click();
    await said(page, 'It is rainy').waitFor();
    expect(new URL(page.url()).hash).to.match(/^#\/timeline\/main-/);
    expect(problems).to.deep.equal([]);
  });
});
