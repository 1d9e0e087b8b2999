import { live, NAMES } from '../support/session-life.js';

describe('the life of a session', () => {
  for (const isLate of [false, true])
    it(`is what it should be after any three things that may happen to it${isLate ? ', with a store that answers later' : ''}`, async () => {
      for (const first of NAMES)
        for (const second of NAMES)
          await Promise.all(NAMES.map((third) => live([first, second, third], isLate)));
    });
});
