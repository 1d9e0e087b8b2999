import { expect } from 'chai';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { Distribution } from '../../../server/plugins/metrics/distribution.js';

describe('a histogram that is put into words when it is read', () => {
  it('reads as the same one of prom-client', async () => {
    const shape = { name: 'sizes', help: 'Sizes', buckets: [0.5, 1, 25] };
    const values = fc.array(fc.oneof(fc.constantFrom(...shape.buckets), fc.integer({ min: 0, max: 60 })));
    await fc.assert(
      fc.asyncProperty(values, async (all) => {
        const [own, theirs] = [new Registry(), new Registry()];
        const distribution = new Distribution(own, shape);
        const histogram = new Histogram({ ...shape, registers: [theirs] });
        // Theirs says nothing of buckets before there is a value.
        for (const value of [0, ...all]) {
          distribution.add(value);
          histogram.observe(value);
        }
        expect(await own.metrics()).to.equal(await theirs.metrics());
      }),
    );
  });
});
