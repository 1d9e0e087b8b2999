import { expect } from 'chai';
import fc from 'fast-check';
import { memoryStore } from '../../server/index.js';
import { closeAll } from '../support/resources.js';
import { CUTS } from './cut-store.js';
import { FLOWS } from './flows.js';
import { attempt } from './trial.js';

const flow = fc.constantFrom(...Object.keys(FLOWS));
const trial = fc.record({
  flow,
  other: flow,
  at: fc.integer({ min: 1, max: 14 }),
  cut: fc.constantFrom(...CUTS),
});

/** Begins a flow while a call of another one is on its way. @param many The first so many of a sample that is the same each time */
export function describePairs(many: number): void {
  describe('two flows at once, of which one has a call of the store cut', () => {
    const sample = fc.sample(trial, { numRuns: many, seed: 52 });
    for (let from = 0; from < sample.length; from += 5)
      it(`leave everything in order: ${from + 1} to ${from + 5}`, async function () {
        this.timeout(120_000);
        for (const one of sample.slice(from, from + 5)) {
          const { hit, violations } = await attempt(memoryStore(), one);
          expect(violations, `${JSON.stringify(one)} at ${hit}`).to.deep.equal([]);
          await closeAll();
        }
      });
  });
}
