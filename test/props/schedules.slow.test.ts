import { expect } from 'chai';
import fc from 'fast-check';
import { sessionSchedules } from '../../client/schedules/index.js';
import { defineApp } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import { postgresStore } from '../../server/stores/postgres/index.js';
import { redisStore } from '../../server/stores/redis/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import { testGateway } from '../../testing/index.js';
import { type Fired, isFired } from '../schedules/begin.js';
import { sundaysAt } from '../schedules/oracle.js';
import { TestClock } from '../schedules/test-clock.js';
import { newDatabase } from '../support/durable.js';
import { cases } from '../support/fuzz.js';
import { closeLater } from '../support/resources.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] as const;
/** Times that exist twice, or not at all, on some Sundays, and others. */
const TIMES = [
  [2, 30],
  [1, 45],
  [9, 0],
] as const;

const worker = defineApp({
  async *run(turn) {
    yield `did ${turn.text}`;
  },
});

type End = 'nothing' | 'restart' | 'kill';

const stepOf = (ends: readonly End[]) =>
  fc.record({
    jump: fc.double({ min: 30, max: 90, noNaN: true }),
    back: fc.double({ min: 0, max: 2, noNaN: true }),
    end: fc.constantFrom(...ends),
  });

function property(
  makeStore: () => Promise<Store>,
  runs: number,
  ends: readonly End[] = ['nothing', 'restart', 'kill'],
): () => Promise<void> {
  return async () => {
    const step = stepOf(ends);
    const store = await makeStore();
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 10 }), async (steps) => {
        const clock = new TestClock(store);
        const limits = { scheduleMinMs: 1, drainMs: 1000, queueLength: 1000 };
        const gateway = closeLater(await testGateway({ app: worker, store: clock.store, limits }), (it) =>
          it.close(),
        );
        const name = `s${++number}`;
        const client = gateway.client({ user: 'ada' });
        const { schedule, schedules } = sessionSchedules(client, name);
        const set = await Promise.all(
          ZONES.map((zone, i) => {
            const [hour, minute] = TIMES[i]!;
            return schedule({
              id: zone.replace('/', '.'),
              message: zone,
              every: `${minute} ${hour} * * 0`,
              zone,
              missed: 'all',
            });
          }),
        );
        let reached = Date.now();
        for (const { jump, back, end } of steps) {
          clock.forward(jump * DAY);
          reached = Math.max(reached, clock.now());
          if (end !== 'nothing') await gateway[end]();
          // Nobody is asked before the gateway is: a store that is shared has to see the dead one's lease end.
          await until(async () => (await schedules()).every(({ nextAt }) => nextAt > reached));
          clock.forward(-back * DAY);
        }
        const fired = await firedIn(client, name);
        for (const [i, { id, setAt }] of set.entries()) {
          const [hour, minute] = TIMES[i]!;
          const own = fired.filter((event) => event.id === id);
          expect(own.map(({ instant }) => new Date(instant).toISOString())).to.deep.equal(
            sundaysAt(hour, minute, ZONES[i]!, setAt, reached).map((at) => new Date(at).toISOString()),
            id,
          );
          expect(own.filter(({ skipped, missed }) => skipped || missed)).to.deep.equal([]);
        }
        expect(new Set(fired.map(({ runId }) => runId)).size).to.equal(fired.length);
        const { messages } = await client.session(name).history({ limit: 1000 });
        expect(messages.filter(({ role }) => role === 'user').length).to.equal(Math.min(fired.length, 500));
        await gateway.close();
      }),
      { numRuns: cases(runs), endOnFailure: true },
    );
  };
}

async function firedIn(client: any, name: string): Promise<Fired[]> {
  const fired: Fired[] = [];
  const events = client.events(name, { from: 'earliest' });
  for await (const event of events) {
    if (isFired(event)) fired.push(event);
    if (event.type === 'subscribed' || event.type === 'connected') continue;
    if (event.type === 'gap') throw new Error('the log was cut');
    const { head } = (await client.session(name).status()) as { head: number };
    if (Number(event.cursor?.split('.').at(-1)) >= head) break;
  }
  return fired;
}

describe('schedules through changes of summer time, ends of gateways and clocks that jump', () => {
  it(
    'fire each instant once: memory',
    property(async () => memoryStore(), 1),
  );
  it(
    'fire each instant once: SQLite',
    property(async () => sqliteStore({ path: newDatabase() }), 1),
  );
});

for (const { name, describe: describeShared, start } of SHARED_STORES) {
  describeShared(`schedules through all of that on ${name}`, () => {
    it('fire each instant once', async () => {
      const url = await start();
      const make = async (): Promise<Store> =>
        name === 'Redis' ? redisStore({ url, leaseMs: 1000 }) : postgresStore({ url, leaseMs: 1000 });
      // The store of a gateway that is killed in this process goes on with its lease, so that nobody takes over.
      await property(make, 1, ['nothing', 'restart'])();
    });
  });
}
