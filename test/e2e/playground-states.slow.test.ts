import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openState, STATES, WIDTHS } from '../../scripts/playground-states.js';
import { findings } from '../support/axe.js';
import { needChromium, openPage } from '../support/browser.js';
import { isToday } from '../support/daily.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import { expectToFit } from './playground-page.js';

/** Opens all that is folded, also what a fold had in it. */
async function openFolds(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const folded = document.querySelectorAll<HTMLDetailsElement>('details:not([open])');
    for (const each of folded) each.open = true;
    return folded.length === 0;
  });
}

describe('the states of the playground', () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  for (const [number, name] of Object.keys(STATES).entries()) {
    for (const width of ['phone', 'desk'] as const) {
      if (!isToday(number + (width === 'desk' ? 3 : 0), 6)) continue;
      it(`${name}: can be used by everybody, in light and dark, and fits, on a ${width}`, async () => {
        const { page, problems } = await openPage('about:blank');
        const [wide, high] = WIDTHS[width];
        await page.setViewportSize({ width: wide, height: high });
        await page.emulateMedia({ reducedMotion: 'reduce' });
        closeLater(await openState(page, name), (it) => it.close());
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await findings(page), colorScheme).to.deep.equal([]);
        }
        await expectToFit(page, name);
        await openFolds(page);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await findings(page), `${colorScheme}, with all folds open`).to.deep.equal([]);
        }
        // Who asks for less motion is given none, so nothing was looked at while it faded in.
        expect(await page.evaluate(() => document.getAnimations().length)).to.equal(0);
        await expectToFit(page, name);
        expect(problems).to.deep.equal([]);
      });
    }
  }
});
