import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { servePage } from '../e2e/page-host.js';
import { needChromium, openPage } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { FRAMEWORKS, type Framework, PRELUDE } from './frameworks.js';
import { app, PIECES } from './pieces.js';

declare global {
  var go: (id: string) => void;
  var hide: () => void;
  var messages: () => any[];
}

async function open({ page: script, plugins }: Framework) {
  const url = await servePage(PRELUDE + script, { app, plugins: plugins('client') });
  const { page, problems } = await openPage(url);
  await status(page, 'ready');
  return { page, problems };
}

const status = (page: Page, wanted: string) =>
  page.waitForFunction((text) => document.querySelector('h1')?.textContent === text, wanted);
/** Resolves once the page shows these messages. */
const shows = (page: Page, rows: readonly string[]) =>
  page.waitForFunction(
    (wanted) => [...document.querySelectorAll('li')].map((row) => row.textContent).join('\n') === wanted,
    rows.join('\n'),
  );

for (const framework of FRAMEWORKS)
  describeDaily(`${framework.name} in a page`, 2, () => {
    before(function () {
      needChromium(this);
    });

    it('shows a growing answer with one change a frame, and another view of the session beside it', async () => {
      const { page, problems } = await open(framework);
      expect(await page.textContent('h2')).to.equal('online');
      await page.evaluate(async () => {
        Object.assign(globalThis, { renders: { answer: 0 }, frames: 0 });
        await globalThis.session.send('long').result;
      });
      await status(page, 'ready');
      const { renders, frames } = await page.evaluate(() => ({
        renders: globalThis.renders,
        frames: (globalThis as any).frames as number,
      }));
      // Besides the frames: the draft, accepted, shown, begun, ended, and the end of the send.
      expect(renders.answer)
        .to.be.at.most(frames + 8)
        .and.below(PIECES);
      // The question, the answer: where parts are rendered apart.
      expect(renders.list ?? 0).to.be.at.most(2);
      await shows(page, ['long', Array.from({ length: PIECES }, (_, at) => `${at} `).join('')]);
      await page.waitForFunction(() => document.querySelector('h3')?.textContent === '2');
      expect(problems).to.deep.equal([]);
    });

    it('shows another session, and what became of its messages, until it goes', async () => {
      const { page, problems } = await open(framework);
      await page.clock.install();
      await page.evaluate(() => globalThis.session.send('first').result);
      await shows(page, ['first', 'You said first']);
      await page.evaluate(() => globalThis.go('b'));
      await shows(page, []);
      await page.evaluate(() => globalThis.session.send('Hello').result);
      await shows(page, ['Hello', 'You said Hello']);
      expect(await page.textContent('h3'), 'of the session a').to.equal('2');
      await page.evaluate(() => globalThis.session.edit(globalThis.messages()[0].id, 'Hi').result);
      await shows(page, ['Hi', 'You said Hi']);
      await page.evaluate(async () => {
        await globalThis.session.regenerate().result;
        await globalThis.session.fork('c');
      });
      await page.waitForFunction(() => globalThis.messages()[1]?.versions?.length === 2);
      await page.evaluate(() => globalThis.session.move({ version: globalThis.messages()[0].versions[0] }));
      await shows(page, ['Hello', 'You said Hello']);
      await page.evaluate(() => globalThis.go('c'));
      await shows(page, ['Hi', 'You said Hi']);

      await page.evaluate(() => globalThis.hide());
      await page.waitForSelector('b');
      // It keeps a session for a moment, and its connection for some more.
      for (let moments = 0; moments < 2; moments++) await page.clock.fastForward(10_000);
      await page.waitForFunction(() => globalThis.client.connection.state === 'closed');
      expect(problems).to.deep.equal([]);
    });
  });
