import { expect } from 'chai';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { describeDaily } from '../../support/daily.js';
import { SEED } from '../../support/fuzz.js';
import { FAST } from '../../support/gateway.js';
import { randomOf } from '../../support/random.js';
import { ByteProxy } from '../byte-proxy.js';
import { FrameProxy } from '../frame-proxy.js';
import {
  actor,
  answers,
  brief,
  heard,
  human,
  PAGES,
  SDKS,
  STORES,
  startLangGraph,
  type Tab,
} from './fixtures.js';

const SCRIPT = `think hello look data ${'word '.repeat(30)}bye`;
const CUTS = 30;

const isWhole = (shown: any): boolean => /bye $/.test(answers(shown)) && !shown.isLoading;

/** What a page shows once it has the whole answer. */
async function wholeIn(tab: Tab): Promise<unknown> {
  await tab.say(SCRIPT);
  await tab.until(isWhole, 'the whole answer');
  return brief(tab.shown);
}

/** Says something in a page whose line is cut; it shows the same as one whose is not, also once it is reloaded. */
async function showsWhole(
  tab: Tab,
  { reload, expected, where }: { reload(): Tab; readonly expected: unknown; readonly where: string },
): Promise<void> {
  expect(await wholeIn(tab), where).to.deep.equal(expected);
  expect(tab.shown.error, where).to.equal(undefined);
  const reloaded = reload();
  await reloaded.until(isWhole, `${where}: the answer after a reload`);
  expect(brief(reloaded.shown), where).to.deep.equal(expected);
  await tab.controller.dispose();
  await reloaded.controller.dispose();
}

describeDaily('a page whose network breaks in mid-answer', 2, () => {
  for (const [store, make] of STORES)
    for (const sdk of SDKS)
      it(`shows each byte once, wherever that was: ${sdk.version}, ${store}`, async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make(), limits: FAST });
        const proxy = await ByteProxy.start(ui.url);
        const expected = await wholeIn(ui.tab(sdk, { threadId: 'uncut' }));
        for (let round = 0; round < CUTS; round++) {
          const threadId = `thread-${round}`;
          const after = 1 + Math.floor(Math.random() * 12_000);
          const where = `cut after ${after} bytes`;
          proxy.cutAfter = after;
          const tab = ui.tab(sdk, { threadId, url: proxy.url });
          await showsWhole(tab, { reload: () => ui.tab(sdk, { threadId }), expected, where });
        }
        expect(proxy.cuts).to.be.greaterThan(CUTS / 2);
        expect(effects).to.deep.equal(Array.from({ length: CUTS + 1 }, () => 'look'));
      });
});

describeDaily('a page whose WebSocket breaks in mid-answer', 2, () => {
  const pages = PAGES.filter(({ wire }) => wire === 'WebSocket');
  for (const [store, make] of STORES)
    for (const sdk of pages)
      it(`shows each byte once, wherever that was: ${sdk.version}, ${store}`, async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make(), limits: FAST });
        const proxy = await CuttingProxy.start(ui.url);
        const expected = await wholeIn(ui.tab(sdk, { threadId: 'uncut' }));
        const random = randomOf(SEED);
        for (let round = 0; round < CUTS; round++) {
          const threadId = `thread-${round}`;
          // Behind the answer to the command, which its client does not repeat; and again in what is told anew.
          const places = [1500 + Math.floor(random() * 12_000), 1 + Math.floor(random() * 20_000)];
          const where = `cut after ${places} bytes`;
          proxy.cuts.push(...places);
          const tab = ui.tab(sdk, { threadId, socketUrl: proxy.url });
          await showsWhole(tab, { reload: () => ui.tab(sdk, { threadId }), expected, where });
        }
        expect(proxy.cut).to.be.greaterThan(CUTS / 2);
        expect(effects).to.deep.equal(Array.from({ length: CUTS + 1 }, () => 'look'));
      });
});

describeDaily('a client of the classic routes whose stream is cut off', 2, () => {
  for (const [store, make] of STORES)
    for (const sdk of SDKS)
      it(`is told each event once, in the same run: ${sdk.version}, ${store}`, async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make(), limits: FAST });
        const cut = async (after: number): Promise<void> => {
          const proxy = await FrameProxy.start(ui.url);
          proxy.cuts.push({ after, clean: false });
          const payload = { input: human('a b look c d'), streamMode: ['messages-tuple'] };
          const client = ui.client(sdk, { url: proxy.url });
          const { text } = await heard(client.runs.stream(`thread-${after}`, 'default', payload));
          expect(text, `cut after ${after}`).to.equal('a b [look: {"did":"look","n":1}] c d ');
          expect(proxy.ended).to.equal(1);
        };
        await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(cut));
        expect(effects).to.have.length(8);
      });
});
