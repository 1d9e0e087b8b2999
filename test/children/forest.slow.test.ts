import { expect } from 'chai';
import fc from 'fast-check';
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
  await fc.assert(
    fc.asyncProperty(programsOf(3), steps, retentions, async (program, list, retention) => {
      const forest = new Forest(store(), { retention });
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

describe('the steps of these tests', () => {
  it('did what they are for', () => {
    for (const kind of ['abort', 'steer', 'send', 'restart', 'gap', 'asked', 'lanes in a snapshot'])
      expect(met.get(kind), kind).to.be.greaterThan(3);
  });
});
