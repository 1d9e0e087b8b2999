import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp } from '../../server/index.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { startGateway, TOKEN } from '../support/gateway.js';
import { postUntilTaken } from '../support/insist.js';
import { openEventSource } from '../support/native-client.js';
import { foldOf, SessionView } from '../support/session-view.js';
import { casesOn, STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

const app = defineApp({
  async *run(turn) {
    for (let i = 0; i < Number(turn.text); i++) {
      yield `${i} `;
      await new Promise(setImmediate);
    }
  },
});

const limits = { sendsPerSecond: Infinity, queueLength: 100, heartbeatMs: 40 };
const cuts = fc.array(fc.oneof(fc.nat(1500), fc.nat(9000)), { maxLength: 8 });
const sends = fc.array(fc.nat(40), { minLength: 1, maxLength: 5 });

for (const on of STORES) {
  describe(`a native EventSource that is cut off at any byte (${on.name})`, () => {
    let number = 0;

    it('gets every event of one session exactly once', async () => {
      const model = testStore(on);
      const { url } = await startGateway({ app, store: model.store, limits });
      const proxy = await CuttingProxy.start(url);
      await fc.assert(
        fc.asyncProperty(cuts, sends, async (cutList, sendList) => {
          const name = `one${++number}`;
          await postUntilTaken(`${url}/channel`, { sessionId: name, channel: 'c', payload: 0 });
          proxy.cuts.splice(0, proxy.cuts.length, ...cutList);
          const view = new SessionView(name);
          const finished = watch(
            [view],
            `${proxy.url}/events?sessionId=${name}&from=earliest&token=${TOKEN}`,
          );
          await sendAll(
            url,
            sendList.map((deltas) => ({ name, deltas })),
          );
          await finished.until(() => view.state.cursor === model.eventsOf(name).at(-1)?.cursor);
          const log = model.eventsOf(name);
          expect(view.cursors).to.deep.equal(log.map((event) => event.cursor));
          expect(view.state).to.deep.equal(foldOf(log));
          expect(view.gaps).to.deep.equal([]);
        }),
        { numRuns: casesOn(on, 15) },
      );
    });

    it('gets every event of several sessions, some of them twice, none out of order', async () => {
      const model = testStore(on);
      const { url } = await startGateway({ app, store: model.store, limits });
      const proxy = await CuttingProxy.start(url);
      await fc.assert(
        fc.asyncProperty(
          cuts,
          fc.array(sends, { minLength: 2, maxLength: 4 }),
          async (cutList, perSession) => {
            const names = perSession.map(() => `many${++number}`);
            for (const name of names)
              await postUntilTaken(`${url}/channel`, { sessionId: name, channel: 'c', payload: 0 });
            const { views, finished } = watchCut(proxy, cutList, names);
            await sendAll(
              url,
              perSession.flatMap((list, i) => list.map((deltas) => ({ name: names[i]!, deltas }))),
            );
            await finished.until(() =>
              views.every((view) => view.state.cursor === model.eventsOf(view.id).at(-1)?.cursor),
            );
            for (const view of views) {
              expect(view.cursors).to.deep.equal(model.eventsOf(view.id).map((event) => event.cursor));
              expect(view.state).to.deep.equal(foldOf(model.eventsOf(view.id)));
            }
          },
        ),
        { numRuns: casesOn(on, 15) },
      );
    });

    it('gets gap and snapshot of several sessions whose events were cut, before anything else of them', async () => {
      const model = testStore(on);
      const retention = { events: 8 };
      const { url } = await startGateway({ app, store: model.store, limits: { ...limits, retention } });
      const proxy = await CuttingProxy.start(url);
      await fc.assert(
        fc.asyncProperty(cuts, sends, sends, async (cutList, first, second) => {
          const names = [`cut${++number}`, `cut${++number}`];
          await sendAll(
            url,
            names.flatMap((name) => first.map((deltas) => ({ name, deltas }))),
          );
          const { views, finished } = watchCut(proxy, cutList, names);
          await sendAll(
            url,
            names.flatMap((name) => second.map((deltas) => ({ name, deltas }))),
          );
          await finished.until(() =>
            views.every((view) => view.state.cursor === model.eventsOf(view.id).at(-1)?.cursor),
          );
          for (const view of views) {
            const { messages, run, queue } = foldOf(model.eventsOf(view.id));
            expect({
              messages: view.state.messages,
              run: view.state.run,
              queue: view.state.queue,
            }).to.deep.equal({ messages, run, queue });
          }
        }),
        { numRuns: casesOn(on, 15) },
      );
    });
  });
}

/** Watches sessions through a proxy that cuts so. */
function watchCut(proxy: CuttingProxy, cutList: readonly number[], names: readonly string[]) {
  proxy.cuts.splice(0, proxy.cuts.length, ...cutList);
  const views = names.map((name) => new SessionView(name, { mayRepeat: true }));
  const query = names.map((name) => `sessionId=${name}`).join('&');
  const finished = watch(views, `${proxy.url}/events?${query}&from=earliest&token=${TOKEN}`);
  return { views, finished };
}

/** Opens an EventSource for views; `until` waits and fails with what a view has found wrong. */
function watch(views: readonly SessionView[], url: string): { until(done: () => boolean): Promise<void> } {
  let failure: unknown;
  let wake = (): void => {};
  const source = openEventSource(url, (event) => {
    try {
      if (event.event === 'connected') for (const view of views) view.reconnected();
      for (const view of views) view.take(event);
    } catch (error) {
      failure ??= error;
    }
    wake();
  });
  return {
    async until(done) {
      while (!failure && !done()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      source.close();
      if (failure) throw failure;
    },
  };
}

async function sendAll(url: string, sendList: readonly { name: string; deltas: number }[]): Promise<void> {
  for (const { name, deltas } of sendList) {
    const body = { sessionId: name, message: String(deltas) };
    expect((await postUntilTaken(`${url}/send`, body)).status).to.equal(200);
  }
}
