import { expect } from 'chai';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { describeDaily } from '../../support/daily.js';
import { SEED } from '../../support/fuzz.js';
import { FAST } from '../../support/gateway.js';
import { randomOf } from '../../support/random.js';
import { STORES, startAgUi } from './fixtures.js';
import { answerIn, cuttingFetch, speaking, tanstack } from './tanstack-fixtures.js';

/** Words that no byte of may be lost or doubled. */
const LONG = Array.from({ length: 60 }, (_, at) => `wört${at}`).join(' ');
const CUTS = 30;

describeDaily('a page of TanStack AI whose stream is cut off', 3, () => {
  for (const [store, make] of STORES)
    it(`has every byte and one run, cut at ${CUTS} random places of an answer: WebSocket, ${store}`, async () => {
      const { app, runs } = speaking();
      const { base, url } = await startAgUi({ app, store: make(), limits: FAST });
      const proxy = await CuttingProxy.start(url);
      const random = randomOf(SEED);
      for (let cut = 0; cut < CUTS; cut++) {
        // Behind the upgrade, and again in what it comes back for.
        const places = [600 + Math.floor(random() * 5000), 400 + Math.floor(random() * 3000)];
        proxy.cuts.push(...places);
        const client = await tanstack({ base, socketAt: proxy.url, threadId: `cut-${cut}` });
        await client.sendMessage(LONG);
        expect(client.getError()?.message, `cut at ${places}`).to.equal(undefined);
        expect(answerIn(client.getMessages()), `cut at ${places}`).to.equal(`${LONG} `);
        expect(runs()).to.equal(cut + 1);
        client.dispose();
      }
      expect(proxy.cut).to.be.greaterThan(CUTS);
    });

  for (const [store, make] of STORES)
    for (const lines of [false, true])
      it(`has every byte and one run, cut at ${CUTS} random places of an answer: ${lines ? 'NDJSON' : 'SSE'}, ${store}`, async () => {
        const { app, runs } = speaking();
        const { base } = await startAgUi({ app, store: make(), limits: FAST });
        const random = randomOf(SEED);
        for (let cut = 0; cut < CUTS; cut++) {
          // In the first answer, and again in what it comes back for.
          const places = [200 + Math.floor(random() * 5000), 1 + Math.floor(random() * 2000)];
          const cutting = cuttingFetch(places);
          const client = await tanstack({ base, lines, threadId: `cut-${cut}`, fetchClient: cutting.fetch });
          await client.sendMessage(LONG);
          expect(client.getError()?.message, `cut at ${places}`).to.equal(undefined);
          expect(answerIn(client.getMessages()), `cut at ${places}`).to.equal(`${LONG} `);
          expect(runs()).to.equal(cut + 1);
          expect(cutting.cuts()).to.be.at.least(1);
          client.dispose();
        }
      });
});
