import { expect } from 'chai';
import fc from 'fast-check';
import type { GatewayEvent } from '../../client/index.js';
import { connectClient, takeUntil } from '../support/client.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { postUntilTaken } from '../support/insist.js';
import { foldOf, lastMessages } from '../support/session-view.js';
import { casesOn, STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';
import { cutsOf, sendsOf, talker } from './talker.js';

const cuts = cutsOf(4);
const sends = sendsOf(3);

const harm = { cuts: 0, gaps: 0 };

for (const on of STORES) {
  describe(`a client behind a network that cuts connections at any byte (${on.name})`, () => {
    let number = 0;

    async function setUp(events = 10_000) {
      const model = testStore(on);
      const retention = { events, bytes: 1e9, ageMs: 1e9 };
      const limits = { sendsPerSecond: Infinity, queueLength: 100, retention };
      const { url, gateway } = await startGateway({ app: talker, store: model.store, limits });
      return { url, gateway, model, proxy: await CuttingProxy.start(url) };
    }

    /** Reads until the model's log has ended as often as there were sends. */
    const endsAt = (log: () => GatewayEvent[], count: number) => (event: GatewayEvent) =>
      log().filter(({ type }) => type === 'message_end').length === count &&
      event.cursor === log().at(-1)?.cursor;

    it('sends once, and every iterator gets every event once and in order', async () => {
      const { gateway, model, proxy } = await setUp();
      const started = new Hearing(gateway, 'run:started');
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(
          cuts,
          sends,
          fc.array(fc.nat(70), { maxLength: 3 }),
          async (cutList, sendList, places) => {
            const name = `s${++number}`;
            const client = connectClient(proxy.url);
            proxy.cuts.splice(0, proxy.cuts.length, ...cutList);
            const log = () => model.eventsOf(name);
            const events = client.events(name, { from: 'earliest' });
            const results = sendList.map(({ deltas, pauseEvery }) =>
              client.send(name, `${deltas} ${pauseEvery}`),
            );
            for (const run of results) expect((await run.result).stopReason).to.equal('end');
            runs += sendList.length;
            expect(started.heard).to.have.length(runs);
            const done = endsAt(log, sendList.length);
            const seen = await takeUntil(events, done);
            expect(seen.map(({ cursor }) => cursor)).to.deep.equal(log().map(({ cursor }) => cursor));
            expect(foldOf(seen)).to.deep.equal(foldOf(log()));
            // Iterators that begin at places of their own share the wire, and each gets what follows its place.
            proxy.cuts.splice(0, proxy.cuts.length, ...cutList);
            proxy.cutAll();
            const all = log().map(({ cursor }) => cursor);
            const starts = places.map((place) => place % (all.length - 1));
            const rest = starts.map((start) => client.events(name, { from: all[start]! }));
            for (const [n, iterator] of rest.entries()) {
              const got = await takeUntil(iterator, done);
              expect(got.map(({ cursor }) => cursor)).to.deep.equal(all.slice(starts[n]! + 1));
            }
            client.disconnect();
          },
        ),
        { numRuns: casesOn(on, 12) },
      );
      harm.cuts += proxy.cut;
    });

    it('says so where retention has cut what came next, and shows the same state in the end', async () => {
      const { url, model, proxy } = await setUp(15);
      await fc.assert(
        fc.asyncProperty(cuts, sends, async (cutList, sendList) => {
          const name = `s${++number}`;
          const client = connectClient(proxy.url);
          proxy.cuts.splice(0, proxy.cuts.length, ...cutList);
          const watch = client.session(name).watch();
          const events = client.events(name, { from: 'earliest' });
          for (const { deltas, pauseEvery } of sendList)
            await postUntilTaken(`${url}/send`, { sessionId: name, message: `${deltas} ${pauseEvery}` });
          const seen = await takeUntil(
            events,
            endsAt(() => model.eventsOf(name), sendList.length),
          );
          harm.gaps += seen.filter(({ type }) => type === 'gap').length;
          const expected = lastMessages(foldOf(model.eventsOf(name)));
          expect(lastMessages(foldOf(seen))).to.deep.equal(expected);
          while (watch.getSnapshot().cursor !== expected.cursor)
            await new Promise<void>((resolve) => watch.subscribe(() => resolve()));
          const { sending: _, status: __, ...state } = watch.getSnapshot();
          expect(lastMessages(state)).to.deep.equal(expected);
          client.disconnect();
        }),
        { numRuns: casesOn(on, 15) },
      );
    });
  });
}

describe('the cuts of these tests', () => {
  it('were hard enough to matter', () => {
    expect(harm.cuts).to.be.greaterThan(STORES.length);
    expect(harm.gaps).to.be.greaterThan(0);
  });
});
