import { expect } from 'chai';
import fc from 'fast-check';
import { SHARED_STORES } from '../support/shared-stores.js';
import { storeAt } from '../support/store-at.js';
import { casesOn, STORES } from '../support/stores.js';
import { type TestStore, testStore } from '../support/test-store.js';
import { Forest, steps } from './forest.js';
import { programsOf } from './programs.js';

const retentions = fc.oneof(
  fc.record({ events: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ bytes: fc.integer({ min: 400, max: 6000 }) }),
  fc.constant({}),
);

const met = new Map<string, number>();

async function grow(store: () => TestStore, refuses: boolean, numRuns: number): Promise<void> {
  let cases = 0;
  await fc.assert(
    fc.asyncProperty(programsOf(3), steps, retentions, async (program, list, retention) => {
      const forest = new Forest(store(), { retention }, `forest${cases++}`);
      await forest.send(program, 0);
      for (const step of list) await forest.take(step);
      await forest.end(refuses);
      for (const [kind, count] of forest.met) met.set(kind, (met.get(kind) ?? 0) + count);
    }),
    { numRuns },
  );
}

const title = 'ends each run once and children first, mixes nothing, and folds to the same from every place';

for (const on of STORES)
  describe(`runs that begin runs (${on.name})`, () => {
    it(title, () => grow(() => testStore(on), on.refuses, casesOn(on, 120)));
  });

for (const { name, describe: describeShared, start } of SHARED_STORES)
  describeShared(`runs that begin runs (${name})`, () => {
    it(title, async () => {
      const place = await start();
      const kind = { name, engine: 'memory', rates: {}, refuses: false, share: 0.1 } as const;
      await grow(() => testStore(kind, storeAt(place)), false, casesOn(kind, 120));
    });
  });

describe('the steps of these tests', () => {
  it('did what they are for', () => {
    for (const kind of ['abort', 'steer', 'send', 'restart', 'gap', 'asked', 'lanes in a snapshot'])
      expect(met.get(kind), kind).to.be.greaterThan(3);
  });
});
