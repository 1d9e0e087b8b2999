import { expect } from 'chai';
import type { Store } from '../../server/stores/store.js';
import { isToday } from '../support/daily.js';
import { closeAll } from '../support/resources.js';
import { CUTS } from './cut-store.js';
import { FLOWS } from './flows.js';
import { attempt } from './trial.js';

/** Cuts each call of each flow in each way. @param days In so many days; odd, or a day would have cuts of one kind alone */
export function describeCuts(name: string, store: () => Store, days: number): void {
  describe(`one call of the store that is cut, on ${name}`, () => {
    let count = 0;
    for (const flow of Object.keys(FLOWS))
      it(`leaves ${flow} done once, and everything in order`, async function () {
        this.timeout(600_000);
        const { calls, violations } = await attempt(store(), { flow, at: 0, cut: 'late' });
        expect(violations, `${flow}, uncut`).to.deep.equal([]);
        for (let at = 1; at <= calls.length; at++)
          for (const cut of CUTS) {
            if (!isToday(count++, days)) continue;
            await closeAll();
            const outcome = await attempt(store(), { flow, at, cut });
            expect(outcome.violations, `${flow}, ${cut} at call ${at}, ${outcome.hit}`).to.deep.equal([]);
          }
      });
  });
}
