import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openPage } from '../support/browser.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { sayIn, serveBuilt, wordsAndPayments } from './built-page.js';

/** Opens a page that was built, at a gateway whose answer goes on, word by word, when the test says so. */
export async function openDocumented(folder: string) {
  const { app, ...seen } = wordsAndPayments();
  const { url, gateway } = await serveBuilt(folder, { app });
  const proxy = await CuttingProxy.start(url);
  return { proxy, gateway, ...(await openPage(proxy.url)), ...seen };
}

/** A page of our documentation, as tests see it. */
export interface Documented {
  readonly open: () => ReturnType<typeof openDocumented>;
  /** Waits until it shows just these messages. */
  readonly shows: (page: Page, ...texts: string[]) => Promise<unknown>;
  /** How it shows an answer that an approval has cut in two. */
  readonly allowed: readonly string[];
  readonly picture?: (page: Page, what: string) => Promise<void>;
}

/** What all pages of our documentation do, whichever library they are written with. */
export function behavesLikeAPage({ open, shows, allowed, picture = async () => {} }: Documented): void {
  it('is opened in a second tab, where the same answer grows', async () => {
    const { page, proxy, words, problems, runs } = await open();
    await sayIn(page, 'story');
    words[0]!.open();
    await shows(page, 'story', 'begin word-0');
    const second = await page.context().newPage();
    await second.goto(proxy.url);
    await shows(second, 'story', 'begin word-0');
    for (const { open: go } of words.slice(1)) go();
    for (const tab of [page, second]) await shows(tab, 'story', 'begin word-0 word-1 word-2 end');
    await picture(second, 'second tab');
    expect(runs()).to.equal(1);
    expect(problems).to.deep.equal([]);
  });

  it('is asked for an approval, reloaded, and allows it', async () => {
    const { page, paid, problems } = await open();
    await sayIn(page, 'pay');
    await page.waitForSelector('text=Allow');
    await page.reload();
    await page.waitForSelector('text=Allow');
    await picture(page, 'approval');
    expect(paid).to.deep.equal([]);
    await page.click('text=Allow');
    await shows(page, 'pay', ...allowed);
    await picture(page, 'allowed');
    expect(paid).to.deep.equal([{ sum: 5 }]);
    expect(problems).to.deep.equal([]);
  });
}
