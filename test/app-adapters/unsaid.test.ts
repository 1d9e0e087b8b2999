import { expect } from 'chai';
import fc from 'fast-check';
import { Unsaid } from '../../server/app-adapters/unsaid.js';

describe('what a model says that is asked again', () => {
  it('is told as far as it was not, or as a whole from where it differs', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 6 }), (said, deltas) => {
        const unsaid = new Unsaid(said);
        const told = deltas.map((delta) => unsaid.take(delta)).join('');
        const whole = deltas.join('');
        if (whole.startsWith(said)) expect(told).to.equal(whole.slice(said.length));
        else expect(told).to.equal(said.startsWith(whole) ? '' : whole);
      }),
    );
  });
});
