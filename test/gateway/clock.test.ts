import { expect } from 'chai';
import { createAgeClock } from '../../server/async/age-clock.js';

const DAY = 24 * 3_600_000;

describe('the clock by which things age', () => {
  it('goes with the wall clock, back too', () => {
    let wall = Date.now();
    const clock = createAgeClock(() => wall);
    expect(clock()).to.equal(wall);
    wall -= DAY;
    expect(clock()).to.equal(wall);
  });

  it('is not set forward with it', () => {
    const start = Date.now();
    let wall = start;
    const clock = createAgeClock(() => wall);
    wall += 8 * DAY;
    expect(clock()).to.be.within(start, start + 3_600_000);
  });
});
