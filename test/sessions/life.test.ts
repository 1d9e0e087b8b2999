import fc from 'fast-check';
import { live, NAMES } from '../support/session-life.js';

describe('the life of a session', () => {
  it('is what it should be after any two things that may happen to it', async () => {
    for (const first of NAMES) for (const second of NAMES) await live([first, second], false);
  });

  it('is what it should be after many, with a store that answers later too', async () => {
    const events = fc.array(fc.constantFrom(...NAMES), { minLength: 3, maxLength: 10 });
    await fc.assert(fc.asyncProperty(events, fc.boolean(), live), { numRuns: 120 });
  });
});
