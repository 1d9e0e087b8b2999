import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type Gateway, isGatewayError, type SessionHandle } from '../../server/index.js';
import type { GatewayEvent, OnBusy } from '../../shared/events.js';
import type { Message } from '../../shared/messages.js';
import { embedGateway } from '../support/embedded.js';
import { type Fate, hostileStore, listedFates } from '../support/hostile-store.js';
import { foldOf } from '../support/session-view.js';
import { casesOn, WILLING_STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

const app = defineApp({
  async *run(turn) {
    for (let i = 0; i < 4; i++) {
      yield `${turn.text} ${i} `;
      await new Promise(setImmediate);
      if (i === 2) for (const { id } of turn.steered()) yield `steered ${id} `;
    }
  },
});

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('send' as const), onBusy: busy(), keyed: fc.boolean() }),
    },
    fc.record({ do: fc.constantFrom('abort' as const, 'publish' as const, 'breathe' as const) }),
    fc.record({ do: fc.constant('close' as const) }),
  ),
  { minLength: 2, maxLength: 14 },
);
const fatesOf = (good: number, maxLength: number): fc.Arbitrary<Fate[]> =>
  fc.array(
    fc.oneof(
      { weight: good, arbitrary: fc.constant<Fate>('do') },
      { weight: 4, arbitrary: fc.constantFrom<Fate>('refuse', 'late', 'lose', 'drop') },
    ),
    { maxLength },
  );
const fates = fc.record({
  append: fatesOf(8, 60),
  cut: fatesOf(1, 20),
  acquire: fatesOf(8, 6),
  read: fatesOf(8, 40),
  others: fatesOf(8, 40),
});

function busy(): fc.Arbitrary<OnBusy> {
  return fc.constantFrom('queue', 'steer', 'interrupt');
}

async function historyOf(session: SessionHandle): Promise<readonly Message[]> {
  const all: Message[] = [];
  for (let before: string | undefined, pages = 0; ; pages++) {
    expect(pages, 'paging ends').to.be.lessThan(1000);
    const page = await session.history({ limit: 3, ...(before !== undefined && { before }) });
    all.unshift(...page.messages);
    if (page.cursor === null) return all;
    before = page.cursor;
  }
}

const idle = async (session: SessionHandle): Promise<void> => {
  for (;;) {
    const status = await session.status().catch(() => null);
    if (!status || (status.status === 'idle' && status.queued === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

/** What each message of a log came to, by its id: how often it was accepted, and how often its run ended. */
function talesOf(logs: Iterable<readonly GatewayEvent[]>): Map<string, { accepted: number; ended: number }> {
  const tales = new Map<string, { accepted: number; ended: number }>();
  for (const log of logs) {
    const runs = new Map<string, string>();
    for (const event of log) {
      if (event.type === 'message_accepted') {
        runs.set(event.runId!, event.message.id);
        const tale = tales.get(event.message.id) ?? { accepted: 0, ended: 0 };
        tales.set(event.message.id, { ...tale, accepted: tale.accepted + 1 });
      }
      if (event.type === 'message_end') tales.get(runs.get(event.runId!)!)!.ended += 1;
    }
  }
  return tales;
}

const metOverall = new Map<string, number>();

for (const on of WILLING_STORES) {
  describe(`a store that refuses, is late and loses its answers (${on.name})`, () => {
    it('costs no message, doubles none and ends each run once; who was told no finds nothing done', async () => {
      await fc.assert(
        fc.asyncProperty(steps, fates, fc.integer({ min: 4, max: 40 }), async (list, given, events) => {
          const model = testStore(on);
          const hostile = hostileStore(model.store, listedFates(given));
          const start = (store = hostile.store): Gateway<any, any, any> =>
            embedGateway({ app, store, limits: { retention: { events } } });
          const gateway = start();
          const session = gateway.session('main');
          const told = new Map<string, 'accepted' | 'refused' | 'unknown'>();
          const waiting: Promise<unknown>[] = [];
          for (const [i, step] of list.entries()) {
            if (step.do === 'send') {
              const id = `m${i}`;
              const message = { id, role: 'user' as const, content: `${i}` };
              const run = session.send(message, {
                onBusy: step.onBusy,
                ...(step.keyed && { idempotencyKey: id }),
              });
              waiting.push(
                run.accepted.then(
                  () => told.set(id, 'accepted'),
                  (error: unknown) => told.set(id, fateOf(error)),
                ),
                run.result.catch(() => {}),
              );
            } else if (step.do === 'breathe') await new Promise((resolve) => setTimeout(resolve, 10));
            else {
              const what =
                step.do === 'publish'
                  ? session.channel('c').publish(i)
                  : session[step.do as 'abort' | 'close']();
              waiting.push(what.catch(() => {}));
            }
          }
          await Promise.race([Promise.all(waiting), new Promise((resolve) => setTimeout(resolve, 300))]);
          hostile.relent();
          await Promise.all(waiting);
          await idle(session);

          const tales = talesOf(model.logs.values());
          for (const [id, outcome] of told) {
            const accepted = tales.get(id)?.accepted ?? 0;
            if (outcome === 'accepted') expect(accepted, `${id} was accepted`).to.equal(1);
            if (outcome === 'refused') expect(accepted, `${id} was refused`).to.equal(0);
            expect(accepted, id).to.be.at.most(1);
          }
          for (const [id, { ended }] of tales) expect(ended, `ends of ${id}`).to.equal(1);

          const closed = model.eventsOf('main').at(-1)?.type === 'session_closed';
          const expected = closed ? [] : foldOf(model.eventsOf('main')).messages;
          expect(await historyOf(session), 'history').to.deep.equal(expected);
          await gateway.close();
          expect(await historyOf(start(model.store).session('main')), 'after a restart').to.deep.equal(
            expected,
          );
          for (const [key, count] of hostile.met) metOverall.set(key, (metOverall.get(key) ?? 0) + count);
        }),
        { numRuns: casesOn(on, 110) },
      );
    });
  });
}

describe('the hostile store of these tests', () => {
  it('has met the methods that sessions live by with every fate', () => {
    const missing = ['append', 'acquire', 'cut', 'read', 'run', 'release'].flatMap((method) =>
      ['refuse', 'late', 'lose', 'drop']
        .map((fate) => `${method} ${fate}`)
        .filter((key) => !metOverall.has(key)),
    );
    // Not each run of the properties is long enough to give up a session while the store is hostile.
    expect(missing.filter((key) => !/^(release|messages)/.test(key))).to.deep.equal([]);
  });
});

function fateOf(error: unknown): 'refused' | 'unknown' {
  const { details } = isGatewayError(error) ? error : { details: undefined };
  return (details as { outcome?: string } | undefined)?.outcome === 'unknown' ? 'unknown' : 'refused';
}
