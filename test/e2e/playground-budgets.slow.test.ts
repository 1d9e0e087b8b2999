import { expect } from 'chai';
import { createGateway, defineApp } from '../../server/index.js';
import { playgroundPlugin } from '../../server/plugins/playground/index.js';
import { findings } from '../support/axe.js';
import { needChromium } from '../support/browser.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import { openPlayground, said, say } from './playground-page.js';

const app = defineApp({
  async *run(turn) {
    for (const part of ['One.', ' Two.', ' Three.']) {
      yield part;
      await turn.usage({ model: 'm', inputTokens: 600, outputTokens: 400 });
    }
  },
});

describe('a budget in the playground, in Chromium', function () {
  this.timeout(60_000);
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  const start = async () => {
    const gateway = createGateway({
      ...{ port: 0, app, auth: { type: 'none' } },
      prices: { m: { input: 1, output: 10 } },
      budgets: [{ name: 'answer', per: 'session', period: 'run', limit: { tokens: 1000 }, reached: 'ask' }],
    }).use(playgroundPlugin({ path: '/' }));
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    return openPlayground(`${url}/`);
  };

  it('is a card without an input, whose yes lets the answer go on, beside a quiet line of what was used', async () => {
    const { page } = await start();
    await say(page, 'go');
    const card = page.getByRole('region', { name: 'Confirm budget' });
    await card.getByText('The budget answer is used up: 1000 of 1000 tokens').waitFor();
    expect(await card.getByRole('button').allTextContents()).to.deep.equal(['Go on', 'End the answer', '']);
    expect(await findings(page)).to.deep.equal([]);
    await card.getByRole('button', { name: 'Go on' }).click();
    await said(page, 'One. Two. Three.').waitFor();
    await said(page, '3,000 tokens, $0.01').waitFor();
    await page.getByText('3,000 tokens, $0.01 this month').waitFor();
  });

  it('ends the answer by a no, and says why', async () => {
    const { page } = await start();
    await say(page, 'go');
    await page.getByRole('button', { name: 'End the answer' }).click();
    await page.getByText('The budget is used up', { exact: true }).waitFor();
    await said(page, 'The budget answer is used up: 1000 of 1000 tokens').waitFor();
  });
});
