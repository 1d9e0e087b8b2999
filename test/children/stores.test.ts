import { expect } from 'chai';
import { type Child, defineApp, isGatewayError, type Turn } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { embedGateway } from '../support/embedded.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { type Fate, hostileStore, listedFates } from '../support/hostile-store.js';
import { insist } from '../support/insist.js';
import { overriding } from '../support/overriding.js';
import { refusingStore } from '../support/refusing-store.js';
import { foldOf } from '../support/session-view.js';
import { testStore } from '../support/test-store.js';
import { runsIn } from './faults.js';
import { endOf, eventsUntil, sendTo } from './tree.js';

const FATES: readonly Fate[] = ['refuse', 'late', 'lose', 'drop'];
/** Appends of the tree below, and a few more. */
const APPENDS = 14;

/** What a call came to: an answer, or the code of its error. */
const cameOf = ({ result }: Child): Promise<string> =>
  result.then(
    ({ stopReason }) => stopReason,
    (error: unknown) => (isGatewayError(error) ? error.code : `${error}`),
  );

describe('a child of a store that fails', () => {
  it('leaves no run where its beginning is refused, and takes no room', async () => {
    const { store, outage } = refusingStore(memoryStore(), 'append');
    const came: string[] = [];
    const gateway = embedGateway({
      ...{ store, limits: { childRuns: 1 }, defaultApp: 'main' },
      apps: {
        main: defineApp({
          async run(turn) {
            outage.on = true;
            const refused = turn.spawn('helper', { message: 'x', id: 'h' });
            came.push(await cameOf(refused));
            outage.on = false;
            const steered = await refused.steer('x').catch(({ code }) => code);
            came.push(steered, await cameOf(turn.spawn('helper', { message: 'x', id: 'other' })));
          },
        }),
        helper: defineApp({ run: () => 'helped' }),
      },
    });
    const session = gateway.session('main');
    const events = [];
    const reading = session.events({ from: 'earliest' });
    const { stopReason } = await session.send('go').result;
    expect(stopReason).to.equal('end');
    expect(came).to.deep.equal(['OVERLOADED', 'OVERLOADED', 'end']);
    for await (const event of reading) {
      events.push(event);
      if (event.type === 'message_end' && !event.parentRunId) break;
    }
    const { runs, wrong } = runsIn(events);
    expect(wrong).to.deep.equal([]);
    expect([...runs.values()].map(({ name }) => name)).to.deep.equal(['go', 'x']);
    expect((await session.status()).status).to.equal('idle');
  });

  it('is read anew by its parent where a read is refused, which says so', async () => {
    const stop = gate();
    const path = newDatabase();
    const came: string[] = [];
    let refusals = { on: false };
    const apps = {
      main: defineApp({
        resumable: true,
        async run(turn) {
          const child = turn.spawn('helper', { message: 'x', id: 'h' });
          await child.result;
          if (!turn.resumed) {
            stop.open();
            return new Promise<never>(() => {});
          }
          const read = async (): Promise<string> => {
            let all = '';
            for await (const piece of child.text) all += piece;
            return all;
          };
          refusals.on = true;
          came.push(await read().catch((error) => (isGatewayError(error) ? error.code : `${error}`)));
          refusals.on = false;
          came.push(await read());
          return '';
        },
      }),
      helper: defineApp({ run: () => 'helped' }),
    };
    const first = await startDurable(path, { apps, defaultApp: 'main' });
    const runId = await sendTo(first.url, 'go');
    await stop.passed;
    const { store, outage } = refusingStore(sqliteStore({ path: crashed(path) }), 'read');
    refusals = outage;
    const second = await startGateway({ apps, defaultApp: 'main', store });
    await eventsUntil(second.url, endOf(runId));
    expect(came).to.deep.equal(['OVERLOADED', 'helped']);
  });

  it('is joined, and does not begin anew, while its end is on its way to the store', async () => {
    const path = newDatabase();
    const [begun, ending, joined] = [gate(), gate(), gate()];
    const apps = {
      main: defineApp({
        resumable: true,
        async run(turn) {
          if (turn.resumed) await ending.passed;
          const child = turn.spawn('helper', { message: 'x', id: 'h', detached: true });
          joined.open();
          if (turn.resumed) await child.result;
          else await new Promise<never>(() => {});
        },
      }),
      helper: defineApp({
        resumable: true,
        async *run(turn) {
          begun.open();
          if (turn.resumed) yield 'helped';
          else await new Promise<never>(() => {});
        },
      }),
    };
    const first = await startDurable(path, { apps, defaultApp: 'main' });
    const runId = await sendTo(first.url, 'go');
    await begun.passed;
    const before = crashed(path);
    const inner = sqliteStore({ path: before });
    const again = gate();
    const append: typeof inner.append = async (ref, events, options) => {
      if (events.some(({ type, runId: of }) => type === 'message_end' && of !== runId)) {
        ending.open();
        await again.passed;
      }
      return inner.append(ref, events, options);
    };
    const store = overriding(inner, { append });
    const second = await startGateway({ apps, defaultApp: 'main', store });
    await ending.passed;
    await joined.passed;
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    again.open();
    const { runs, wrong } = runsIn(await eventsUntil(second.url, endOf(runId)));
    expect(wrong).to.deep.equal([]);
    expect([...runs.values()].map(({ name, text }) => [name, text])).to.deep.equal([
      ['go', ''],
      ['x', 'helped'],
    ]);
  });

  it('is not read with a hole where events are cut just then', async () => {
    const answered = gate();
    const inner = memoryStore();
    const cutNow = gate();
    // The store has cut, and the gateway does not know it yet.
    const cut: typeof inner.cut = async (...args) => {
      const made = await inner.cut(...args);
      cutNow.open();
      await answered.passed;
      return made;
    };
    const came: string[] = [];
    const gateway = embedGateway({
      ...{ store: overriding(inner, { cut }), defaultApp: 'main', limits: { retention: { events: 20 } } },
      apps: {
        main: defineApp({
          async run(turn) {
            const child = turn.spawn('helper', { message: 'x', id: 'h' });
            await Promise.all([child.result, cutNow.passed]);
            const read = async (): Promise<void> => {
              for await (const piece of child.text) came.push(piece);
            };
            const reading = read().catch(({ code }) => came.push(code));
            for (let i = 0; i < 5; i++) await new Promise(setImmediate);
            answered.open();
            await reading;
          },
        }),
        helper: defineApp({
          async *run() {
            for (let i = 0; i < 40; i++) yield `${i} `;
          },
        }),
      },
    });
    await gateway.session('main').send('go').result;
    expect(came).to.deep.equal(['CURSOR_GONE']);
  });

  for (const fate of FATES)
    it(`is begun once or not at all, and ends once, whichever append has the fate "${fate}"`, async () => {
      for (let at = 0; at < APPENDS; at++) {
        const model = testStore();
        const list = [...Array<Fate>(at).fill('do'), fate];
        const { store } = hostileStore(model.store, listedFates({ append: list }));
        const came: string[] = [];
        const gateway = embedGateway({
          ...{ store, defaultApp: 'main' },
          apps: {
            main: defineApp({
              async *run(turn: Turn) {
                const children = ['a', 'b'].map((id) => turn.spawn('helper', { message: id, id }));
                yield 'begun';
                came.push(...(await Promise.all(children.map(cameOf))));
              },
            }),
            helper: defineApp({
              async *run(turn: Turn) {
                yield turn.text;
                await cameOf(turn.spawn('leaf', { message: `${turn.text} leaf`, id: 'leaf' }));
                yield turn.text;
              },
            }),
            leaf: defineApp({ run: () => 'leaf' }),
          },
        });
        const session = gateway.session('main');
        const send = session.send('go', { idempotencyKey: 'one' });
        await send.result.catch(() => insist(() => session.send('go', { idempotencyKey: 'one' }).result));
        const log = () => model.eventsOf('main');
        while (foldOf(log()).run || foldOf(log()).lanes) await new Promise(setImmediate);
        expect(runsIn(log()).wrong, `append ${at}`).to.deep.equal([]);
        for (const code of came) expect(code).to.match(/^(end|aborted|[A-Z_]+)$/);
        expect((await insist(() => session.status())).status).to.equal('idle');
        await gateway.close();
      }
    });
});
