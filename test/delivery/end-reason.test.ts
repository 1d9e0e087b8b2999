import { expect } from 'chai';
import * as fc from 'fast-check';
import { retryAfter } from '../../server/delivery/end-reason.js';

describe('the time until a client comes back', () => {
  it('grows with the time for which the store is away, up to half a minute, and stays spread out', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), (forMs) => {
        const ms = retryAfter('away', forMs);
        const most = Math.min(Math.max(5000, forMs), 30_000);
        expect(ms).to.be.within(Math.max(500, most / 2 - 2500), most);
      }),
    );
    const late = Array.from({ length: 50 }, () => retryAfter('away', 60_000));
    expect(Math.min(...late)).to.be.at.least(12_500);
    expect(new Set(late).size).to.be.greaterThan(10);
  });

  it('is what it was for any other reason, however long it holds', () => {
    for (let i = 0; i < 50; i++) expect(retryAfter('drain', 600_000)).to.be.within(500, 5000);
  });
});
