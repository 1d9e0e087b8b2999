import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type Gateway, type SessionHandle } from '../../server/index.js';
import { type Message, textOf } from '../../shared/messages.js';
import { embedGateway } from '../support/embedded.js';
import { insist, sendUntilTaken } from '../support/insist.js';
import { casesOn, STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';
import { nextMillisecond } from '../support/wall-clock.js';

/** Says as many words as it is asked for. */
const app = defineApp({
  async *run(turn) {
    const words = Number(turn.text);
    for (let i = 0; i < words; i++) yield `word ${i} `;
  },
});

const NAMES = ['a', 'b', 'c'];
const session = fc.constantFrom(...NAMES);
const place = fc.nat(1000);
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('send' as const), session, words: fc.nat(4), preceding: fc.nat(2) }),
    fc.record({ do: fc.constant('branch' as const), session, place, words: fc.nat(2) }),
    fc.record({ do: fc.constant('move' as const), session, place }),
    fc.record({ do: fc.constant('regenerate' as const), session }),
    fc.record({ do: fc.constant('title' as const), session, title: fc.constantFrom('One', 'Two', null) }),
    fc.record({ do: fc.constant('archive' as const), session, archived: fc.boolean() }),
    fc.record({ do: fc.constant('restart' as const), session }),
  ),
  { minLength: 3, maxLength: 25 },
);
type Step = (typeof steps extends fc.Arbitrary<infer T> ? T : never)[number];

interface Kept {
  title: string | null;
  archived: boolean;
  /** All that it ever had, in the order in which they came. */
  readonly ids: string[];
}

const historyOf = async (handle: SessionHandle): Promise<readonly Message[]> =>
  (await insist(() => handle.history({ limit: 1000 }))).messages;

/** Does a step. Returns whether the session was used. */
async function take(gateway: Gateway<any, any, any>, step: Step, kept: Kept): Promise<boolean> {
  const handle = gateway.session(step.session);
  const chosen = 'place' in step ? kept.ids[step.place % (kept.ids.length + 1)] : undefined;
  const noted = async (): Promise<true> => {
    for (const { id } of await historyOf(handle)) if (!kept.ids.includes(id)) kept.ids.push(id);
    return true;
  };
  if (step.do === 'send') {
    const preceding = Array.from({ length: step.preceding }, (_, n) => ({ content: `before ${n}` }));
    await (await sendUntilTaken(handle, `${step.words}`, { preceding })).result;
    return noted();
  }
  // The others need a session that has begun.
  if (kept.ids.length === 0) return false;
  if (step.do === 'branch') {
    await (await sendUntilTaken(handle, `${step.words}`, { parent: chosen ?? null })).result;
    return noted();
  }
  if (step.do === 'move') {
    const { tip } = await snapshotOf(handle);
    await insist(() => handle.move(chosen ?? null));
    return (chosen ?? null) !== tip;
  }
  if (step.do === 'regenerate') {
    if ((await historyOf(handle)).length === 0) return false;
    const id = await insist(async () => (await handle.regenerate().accepted).runId);
    await insist(() => handle.run(id).result);
    return noted();
  }
  if (step.do === 'title') {
    await insist(() => handle.update({ title: step.title }));
    kept.title = step.title;
  }
  if (step.do === 'archive') {
    await insist(() => handle.update({ archived: step.archived }));
    kept.archived = step.archived;
  }
  return false;
}

async function snapshotOf(handle: SessionHandle): Promise<{ tip: string | null }> {
  const messages = await historyOf(handle);
  return { tip: messages.at(-1)?.id ?? null };
}

for (const on of STORES) {
  describe(`lists of sessions (${on.name})`, () => {
    it('say what sessions are by then, in the order of their use', async () => {
      await fc.assert(
        fc.asyncProperty(steps, fc.integer({ min: 3, max: 40 }), async (list, events) => {
          const { store } = testStore(on);
          const limits = { retention: { events }, readsPerSecond: Number.POSITIVE_INFINITY };
          const start = () => embedGateway({ app, store, limits });
          let gateway = start();
          const all = new Map(
            NAMES.map((name): [string, Kept] => [name, { title: null, archived: false, ids: [] }]),
          );
          let order: string[] = [];
          for (const step of list) {
            if (step.do === 'restart') {
              await gateway.close();
              gateway = start();
              continue;
            }
            await nextMillisecond();
            if (await take(gateway, step, all.get(step.session)!))
              order = [step.session, ...order.filter((name) => name !== step.session)];
          }
          const shown: string[] = [];
          for (const archived of [false, true]) {
            const { sessions } = await insist(() => gateway.sessions({ archived }));
            for (const summary of sessions) {
              const { sessionId, title = null, messageCount, preview = '' } = summary;
              const kept = all.get(sessionId)!;
              expect({ title, archived: summary.archived }).to.deep.equal({
                title: kept.title,
                archived: kept.archived,
              });
              expect(archived).to.equal(kept.archived);
              const messages = await historyOf(gateway.session(sessionId));
              expect(messageCount, 'messages').to.equal(messages.length);
              const last = messages.slice(-10).findLast((message) => textOf(message).trim() !== '');
              expect(preview, 'preview').to.equal(last ? textOf(last).trim() : '');
            }
            const names = sessions.map(({ sessionId }) => sessionId);
            // Where a store fails, a run may end later than it says to whoever waits for it.
            if (!on.refuses)
              expect(names).to.deep.equal(order.filter((name) => all.get(name)!.archived === archived));
            shown.push(...names);
          }
          expect(shown).to.have.members(order);
          await gateway.close();
        }),
        { numRuns: casesOn(on, 60) },
      );
    });
  });
}
