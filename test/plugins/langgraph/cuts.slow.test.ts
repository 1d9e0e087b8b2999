import { expect } from 'chai';
import { ByteProxy } from '../byte-proxy.js';
import { actor, answers, brief, FAST, SDKS, STORES, startLangGraph } from './fixtures.js';

const SCRIPT = `think hello look data ${'word '.repeat(30)}bye`;
const CUTS = 30;

describe('a page whose network breaks in mid-answer', () => {
  for (const [store, make] of STORES)
    for (const sdk of SDKS)
      it(`shows each byte once, wherever that was: ${sdk.version}, ${store}`, async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make(), limits: FAST });
        const proxy = await ByteProxy.start(ui.url);
        const uncut = ui.tab(sdk, { threadId: 'uncut' });
        await uncut.say(SCRIPT);
        await uncut.until((shown) => /bye $/.test(answers(shown)), 'the whole answer');
        const expected = brief(uncut.shown);
        for (let round = 0; round < CUTS; round++) {
          const threadId = `thread-${round}`;
          const after = 1 + Math.floor(Math.random() * 12_000);
          const where = `cut after ${after} bytes`;
          proxy.cutAfter = after;
          const tab = ui.tab(sdk, { threadId, url: proxy.url });
          await tab.say(SCRIPT);
          const isWhole = (shown: any) => /bye $/.test(answers(shown)) && !shown.isLoading;
          await tab.until(isWhole, `${where}: the whole answer`);
          expect(brief(tab.shown), where).to.deep.equal(expected);
          expect(tab.shown.error, where).to.equal(undefined);
          const reloaded = ui.tab(sdk, { threadId });
          await reloaded.until(isWhole, `${where}: the answer after a reload`);
          expect(brief(reloaded.shown), where).to.deep.equal(expected);
          await tab.controller.dispose();
          await reloaded.controller.dispose();
        }
        expect(proxy.cuts).to.be.greaterThan(CUTS / 2);
        expect(effects).to.deep.equal(Array.from({ length: CUTS + 1 }, () => 'look'));
      });
});
