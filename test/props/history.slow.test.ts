import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type SessionHandle, tool } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce } from '../../shared/fold.js';
import { textOf } from '../../shared/messages.js';
import { embedGateway } from '../support/embedded.js';
import { insist, sendUntilTaken } from '../support/insist.js';
import { readPages } from '../support/paging.js';
import { foldOf, lastMessages } from '../support/session-view.js';
import { casesOn, STORES } from '../support/stores.js';
import { type TestStore, testStore } from '../support/test-store.js';

/** Steers, or is answered shortly. */
const STEERING = '1 0 0';

/** Answers with as many deltas, a tool, data, reasoning and steering messages as its message asks for. */
const app = defineApp({
  tools: { add: tool({ handler: (input) => (input as { a: number }).a + 1 }) },
  async *run(turn) {
    const [deltas = 0, extras = 0, steers = 0] = turn.text.split(' ').map(Number);
    if (extras & 1) yield { type: 'reasoning_delta', delta: 'hm ' };
    for (let i = 0; i < deltas; i++) yield `${i} ${'x'.repeat(i % 7)}`;
    if (extras & 2) await turn.callTool('add', { a: deltas });
    if (extras & 4) turn.data('chart', { deltas }, { id: 'same' });
    for (let left = extras & 16 ? steers : 0; left > 0 && !turn.signal.aborted; ) {
      left -= turn.steered().filter((message) => textOf(message) === STEERING).length;
      await new Promise(setImmediate);
    }
    yield 'end';
    if (extras & 8) turn.data('chart', { deltas: -1 }, { id: 'same' });
    turn.emit('noise', extras);
  },
});

const sends = fc.array(
  fc.record({ deltas: fc.nat(25), extras: fc.nat(31), preceding: fc.nat(3), steers: fc.nat(2) }),
  { minLength: 1, maxLength: 12 },
);
const retentions = fc.oneof(
  fc.record({ events: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ bytes: fc.integer({ min: 200, max: 6000 }) }),
);

async function snapshotOf(session: SessionHandle, from: 'snapshot' | 'earliest'): Promise<GatewayEvent[]> {
  const seen: GatewayEvent[] = [];
  const { cursor } = await insist(() => session.status());
  for await (const event of session.events({ from })) {
    seen.push(event);
    if (event.cursor === cursor && event.type !== 'gap') break;
  }
  return seen;
}

/** A cut may still be on its way to the store; what the gateway says is what the store comes to. */
async function settled(model: TestStore, session: SessionHandle): Promise<void> {
  const [epoch] = model.epochsOf('main');
  while (model.firstOf(epoch!) !== (await insist(() => session.status())).first)
    await new Promise(setImmediate);
}

const harm = { cuts: 0, steered: 0 };

for (const on of STORES) {
  describe(`retention (${on.name})`, () => {
    it('cuts events and no messages: history, snapshots and tails fold to what the whole log folds to', async () => {
      let cuts = 0;
      let steered = 0;
      await fc.assert(
        fc.asyncProperty(
          sends,
          retentions,
          fc.integer({ min: 1, max: 9 }),
          fc.nat(3),
          async (list, retention, limit, takeover) => {
            const model = testStore(on);
            const start = () => embedGateway({ app, store: model.store, limits: { retention } });
            let gateway = start();
            let session = gateway.session('main');
            let first = 1;
            let head = 0;
            for (const [i, { deltas, extras, preceding, steers }] of list.entries()) {
              // Another gateway takes over and knows no more than the store.
              if (takeover > 0 && i % (takeover + 1) === takeover) {
                await gateway.close();
                gateway = start();
                session = gateway.session('main');
              }
              const before = Array.from({ length: preceding }, (_, n) => ({ content: `before ${n}` }));
              const runs = [
                await sendUntilTaken(session, `${deltas} ${extras} ${steers}`, { preceding: before }),
              ];
              for (let n = 0; n < steers; n++)
                runs.push(await sendUntilTaken(session, STEERING, { onBusy: 'steer', preceding: before }));
              const ends = await Promise.all(runs.map((run) => run.result));
              steered += ends.filter(({ stopReason }) => stopReason === 'steered').length;
              const status = await insist(() => session.status());
              expect(status.first).to.be.at.least(first);
              expect(status.head).to.be.greaterThan(head);
              ({ first, head } = status);
            }
            const log = model.eventsOf('main');
            const whole = foldOf(log);
            expect(head).to.equal(log.length);
            if (first > 1) cuts += 1;
            const history = await readPages(session, limit);
            expect(history).to.deep.equal(whole.messages);
            expect(history.map(({ parentId }) => parentId)).to.deep.equal([
              ...[null, ...history.map(({ id }) => id)].slice(0, -1),
            ]);
            // Whole pages from any place.
            const at = history[Math.floor(history.length / 2)]!;
            const place = `${model.epochsOf('main')[0]}.${at.id}`;
            const page = await insist(() => session.history({ limit, before: place }));
            const end = history.indexOf(at);
            expect(page.messages).to.deep.equal(history.slice(Math.max(0, end - limit), end));
            const expected = lastMessages({ ...whole, cursor: log.at(-1)!.cursor! });
            for (const from of ['snapshot', 'earliest'] as const) {
              const seen = await insist(() => snapshotOf(session, from));
              expect(lastMessages(seen.reduce(reduce, initialState)), from).to.deep.equal(expected);
              if (from === 'earliest' && first > 1)
                expect(seen[0]).to.include({ type: 'gap', reason: 'evicted' });
            }
            // A cut whose answer was lost may never have been made.
            if (!on.refuses) await settled(model, session);
          },
        ),
        { numRuns: casesOn(on, 60) },
      );
      harm.cuts += cuts;
      harm.steered += steered;
    });
  });
}

describe('a long history', () => {
  it('is paged beyond what stays in memory, before and after another gateway takes over', async () => {
    const model = testStore();
    const start = () => embedGateway({ app, store: model.store, limits: { retention: { events: 20 } } });
    const gateway = start();
    const session = gateway.session('main');
    for (let i = 0; i < 700; i++) await session.send('1 0').result;
    const whole = foldOf(model.eventsOf('main')).messages;
    expect(whole).to.have.length(1400);
    expect(await readPages(session, 333)).to.deep.equal(whole);
    const [, left, , , ...rest] = whole;
    for (const { id } of [left!, rest.at(-1)!]) {
      const refused = await session.send({ id, content: '1 0' }).accepted.catch((error: unknown) => error);
      expect(refused).to.include({ code: 'MESSAGE_EXISTS' });
    }
    const next = start().session('main');
    expect(await readPages(next, 1000)).to.deep.equal(whole);
    await next.send('1 0').result;
    expect(await readPages(next, 77)).to.deep.equal(foldOf(model.eventsOf('main')).messages);
  });
});

describe('the retention of these tests', () => {
  it('was small enough to matter', () => {
    expect(harm.cuts).to.be.greaterThan(20);
    expect(harm.steered).to.be.greaterThan(0);
  });
});
