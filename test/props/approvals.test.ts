import { expect } from 'chai';
import fc from 'fast-check';
import { cases } from '../support/fuzz.js';
import { ENGINES } from '../support/stores.js';
import { oneGateway, stories, violationsOf } from './approvals-life.js';

for (const [name, engine] of Object.entries(ENGINES))
  it(`an approval is decided once, by the log's order, whoever races for it (${name})`, () =>
    fc.assert(
      fc.asyncProperty(stories, async (story) => {
        expect(await violationsOf(story, oneGateway(engine()))).to.deep.equal([]);
      }),
      { numRuns: cases(name === 'SQLite' ? 3 : 6) },
    ));
