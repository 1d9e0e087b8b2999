import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp } from '../../server/index.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { postUntilTaken } from '../support/insist.js';
import { ResumingReader } from '../support/resuming-reader.js';
import { foldOf, SessionView } from '../support/session-view.js';
import { casesOn, STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

const app = defineApp({
  async *run(turn) {
    for (const step of turn.text) {
      yield step;
      if (step === 'p') await new Promise(setImmediate);
    }
  },
});
const limits = { sendsPerSecond: Infinity, queueLength: 100 };

for (const on of STORES) {
  describe(`many readers (${on.name})`, () => {
    let number = 0;

    it('that attach at any moment of a run see one order, each event once, and the same under one id', async () => {
      const model = testStore(on);
      const { url } = await startGateway({ app, store: model.store, limits });
      const readers = fc.array(
        fc.record({ delay: fc.nat(25), from: fc.constantFrom('earliest', 'snapshot', 'now', 'run') }),
        { minLength: 1, maxLength: 6 },
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.stringMatching(/^[pd]{1,40}$/), { minLength: 1, maxLength: 4 }),
          readers,
          async (texts, list) => {
            const name = `s${++number}`;
            await postUntilTaken(`${url}/channel`, { sessionId: name, channel: 'c', payload: 0 });
            const contents = new Map<string, object>();
            const connected: Promise<void>[] = [];
            const reading = list.map(async ({ delay, from }) => {
              const attached = gate();
              connected.push(attached.passed);
              for (let i = 0; i < delay; i++) await new Promise(setImmediate);
              const view = new SessionView(name, { place: from === 'earliest' ? 'earliest' : 'open' });
              const reader = new ResumingReader(`${url}/events?sessionId=${name}&from=${from}`, {
                event: (event) => {
                  if (event.event === 'connected') attached.open();
                  view.take(event);
                },
                done: ({ event, data }) => event === 'channel' && data.event.payload === 'over',
              });
              await reader.run();
              for (const { event, data } of reader.events) {
                if (data.cursor === undefined || ['heartbeat', 'snapshot', 'gap'].includes(event)) continue;
                // A reader that begins in the middle of an answer is told more than those who go on.
                const told = { event, data };
                expect(contents.get(data.cursor) ?? told, 'one id never names two contents').to.deep.equal(
                  told,
                );
                contents.set(data.cursor, told);
              }
              return { view, from };
            });
            await Promise.all(
              texts.map((message) => postUntilTaken(`${url}/send`, { sessionId: name, message })),
            );
            await Promise.all(connected);
            await postUntilTaken(`${url}/channel`, { sessionId: name, channel: 'c', payload: 'over' });
            const log = model.eventsOf(name);
            for (const { view, from } of await Promise.all(reading)) {
              expect(view.gaps).to.deep.equal([]);
              const cursors = log.map((event) => event.cursor!);
              const start = cursors.indexOf(view.cursors[0]!);
              expect(view.cursors).to.deep.equal(cursors.slice(start, start + view.cursors.length));
              if (from === 'earliest') expect(start).to.equal(0);
              if (from === 'earliest' || from === 'snapshot') {
                const seen = log.slice(0, log.findIndex((event) => event.cursor === view.state.cursor) + 1);
                expect(view.state).to.deep.equal(foldOf(seen));
              }
            }
          },
        ),
        { numRuns: casesOn(on, 30) },
      );
    });

    it('follow a session through closes and new beginnings, each announced, however often they are cut', async () => {
      const model = testStore(on);
      const { url } = await startGateway({ app, store: model.store, limits });
      const proxy = await CuttingProxy.start(url);
      const ops = fc.array(fc.constantFrom('send', 'send', 'close'), { minLength: 2, maxLength: 10 });
      const cuts = fc.array(fc.oneof(fc.nat(1500), fc.nat(6000)), { maxLength: 8 });
      let followed = 0;
      await fc.assert(
        fc.asyncProperty(ops, cuts, fc.boolean(), async (list, cutList, several) => {
          const name = `c${++number}`;
          await postUntilTaken(`${url}/channel`, { sessionId: name, channel: 'c', payload: 0 });
          proxy.cuts.splice(0, proxy.cuts.length, ...cutList);
          const view = new SessionView(name, { place: 'earliest', mayRepeat: several });
          const query = several ? `sessionId=${name}&sessionId=${name}x` : `sessionId=${name}`;
          const reader = new ResumingReader(`${proxy.url}/events?${query}&from=earliest`, {
            connected: () => view.reconnected(),
            event: (event) => view.take(event),
            done: ({ event, data }) => event === 'channel' && data.event.payload === 'over',
          });
          const reading = reader.run();
          let open = true;
          for (const op of list) {
            if (op === 'send') await postUntilTaken(`${url}/send`, { sessionId: name, message: 'pdp' });
            else if (open)
              expect((await postUntilTaken(`${url}/close`, { sessionId: name })).status).to.equal(200);
            open = op === 'send';
          }
          await postUntilTaken(`${url}/channel`, { sessionId: name, channel: 'c', payload: 'over' });
          await reading;
          expect(view.state).to.deep.equal({ ...foldOf(model.eventsOf(name)), closed: false });
          expect(view.place?.epoch).to.equal(model.epochsOf(name).at(-1));
          expect(view.gaps.every((reason) => reason === 'epoch')).to.equal(true);
          // A log that was seen is read to its end. One that was begun and closed meanwhile is behind the gap.
          const seen = model
            .epochsOf(name)
            .filter((epoch) => view.cursors.some((cursor) => cursor.startsWith(`${epoch}.`)));
          expect(view.gaps.length).to.be.at.least(seen.length - 1);
          expect(view.cursors).to.deep.equal(
            seen.flatMap((epoch) => model.logs.get(epoch)!.map((event) => event.cursor)),
          );
          followed += seen.length - 1;
        }),
        { numRuns: casesOn(on, 40) },
      );
      expect(followed).to.be.greaterThan(0);
    });
  });
}
