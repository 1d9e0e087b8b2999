import { expect } from 'chai';
import fc from 'fast-check';
import { wireValue } from '../../../server/transports/in-process/wire-value.js';
import { cases } from '../../support/fuzz.js';

describe('values in process', () => {
  it('are what JSON would have made of them', () => {
    const value = fc.anything({
      ...{ withDate: true, withBoxedValues: true, withSparseArray: true },
      withNullPrototype: true,
    });
    fc.assert(
      fc.property(value, (given) => {
        const text = JSON.stringify(given);
        expect(wireValue(given)).to.deep.equal(text === undefined ? undefined : JSON.parse(text));
      }),
      { numRuns: cases(500) },
    );
  });

  it('are passed on as they are where they are JSON already', () => {
    const given = { a: [1, { b: 'x' }], c: null };
    expect(wireValue(given)).to.equal(given);
    const mixed = { same: given, when: new Date(0), gone: undefined };
    const made = wireValue(mixed) as { readonly same: unknown };
    expect(made).to.deep.equal({ same: given, when: '1970-01-01T00:00:00.000Z' });
    expect(made.same).to.equal(given);
  });

  it('are refused where JSON has no word for them', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (const given of [cycle, { big: 1n }, { a: [new Map()] }, new Set([1])])
      expect(() => wireValue(given)).to.throw(/JSON has no/);
  });
});
