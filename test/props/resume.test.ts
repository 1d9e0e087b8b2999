import { expect } from 'chai';
import fc from 'fast-check';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { startGateway } from '../support/gateway.js';
import { postUntilTaken } from '../support/insist.js';
import { ResumingReader } from '../support/resuming-reader.js';
import { foldOf, lastMessages, SessionView } from '../support/session-view.js';
import { casesOn, STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';
import { cutsOf, sendsOf, talker } from './talker.js';

const cuts = cutsOf(12);
const sends = sendsOf(4);

/** What the cuts of all stores did: on some there are few cases. */
const harm = { gaps: 0 };

for (const on of STORES) {
  describe(`resume after a cut at any byte (${on.name})`, () => {
    let number = 0;

    async function setUp(events = 10_000): Promise<{
      read(
        name: string,
        from: string,
        cuts: number[],
        sends: { deltas: number; pauseEvery: number }[],
      ): Promise<SessionView>;
      model: ReturnType<typeof testStore>;
    }> {
      const model = testStore(on);
      const retention = { events, bytes: 1e9, ageMs: 1e9 };
      const limits = { sendsPerSecond: Infinity, queueLength: 100, retention };
      const { url } = await startGateway({ app: talker, store: model.store, limits });
      const proxy = await CuttingProxy.start(url);
      return {
        model,
        async read(name, from, cutList, sendList) {
          proxy.cuts.splice(0, proxy.cuts.length, ...cutList);
          const view = new SessionView(name, { place: from === 'earliest' ? 'earliest' : 'open' });
          let ends = 0;
          const last = sendList.length;
          const reader = new ResumingReader(`${proxy.url}/events?sessionId=${name}&from=${from}`, {
            connected: () => view.reconnected(),
            event: (event) => view.take(event),
            done: () => {
              const state = view.state;
              ends = model.eventsOf(name).filter((event) => event.type === 'message_end').length;
              return ends === last && state.cursor === model.eventsOf(name).at(-1)?.cursor;
            },
          });
          // The session exists before it is read: what `now` and `snapshot` mean is then certain.
          await postUntilTaken(`${url}/channel`, { sessionId: name, channel: 'c', payload: 0 });
          const reading = reader.run();
          for (const { deltas, pauseEvery } of sendList) {
            const body = { sessionId: name, message: `${deltas} ${pauseEvery}` };
            expect((await postUntilTaken(`${url}/send`, body, { prefer: 'respond-async' })).status).to.equal(
              202,
            );
          }
          await reading;
          return view;
        },
      };
    }

    it('loses and repeats nothing within retention', async () => {
      const { read, model } = await setUp();
      await fc.assert(
        fc.asyncProperty(cuts, sends, async (cutList, sendList) => {
          const name = `s${++number}`;
          const view = await read(name, 'earliest', cutList, sendList);
          const log = model.eventsOf(name);
          expect(view.gaps).to.deep.equal([]);
          expect(view.cursors).to.deep.equal(log.map((event) => event.cursor));
          expect(view.state).to.deep.equal(foldOf(log));
        }),
        { numRuns: casesOn(on, 25) },
      );
    });

    it('says so where retention has cut what came next, also when that itself is cut off', async () => {
      const { read, model } = await setUp(15);
      let gaps = 0;
      await fc.assert(
        fc.asyncProperty(
          cuts,
          sends,
          fc.constantFrom('earliest', 'snapshot'),
          async (cutList, sendList, from) => {
            const name = `s${++number}`;
            const view = await read(name, from, cutList, sendList);
            gaps += view.gaps.length;
            expect(new Set(view.gaps)).to.satisfy((reasons: Set<string>) =>
              [...reasons].every((reason) => reason === 'evicted'),
            );
            expect(lastMessages(view.state)).to.deep.equal(lastMessages(foldOf(model.eventsOf(name))));
          },
        ),
        { numRuns: casesOn(on, 40) },
      );
      harm.gaps += gaps;
    });

    it('brings a chat page that starts with the snapshot to the same state', async () => {
      const { read, model } = await setUp();
      await fc.assert(
        fc.asyncProperty(cuts, sends, async (cutList, sendList) => {
          const name = `s${++number}`;
          const view = await read(name, 'snapshot', cutList, sendList);
          expect(view.snapshots).to.be.greaterThan(0);
          expect(view.state).to.deep.equal(foldOf(model.eventsOf(name)));
        }),
        { numRuns: casesOn(on, 20) },
      );
    });
  });
}

describe('the cuts of these tests', () => {
  it('were hard enough to matter', () => expect(harm.gaps).to.be.greaterThan(0));
});
