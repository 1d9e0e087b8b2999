import fc from 'fast-check';
import { cases } from '../support/fuzz.js';
import { ENGINES } from '../support/stores.js';
import { live, lives } from './life.js';

for (const [name, engine] of Object.entries(ENGINES))
  it(`an inbox counts what its person would (${name})`, () =>
    fc.assert(
      fc.asyncProperty(lives, (deeds) => live(deeds, [engine()])),
      { numRuns: cases(name === 'SQLite' ? 1 : 2) },
    ));
