import { expect } from 'chai';
import { Eventual, isLater } from '../../server/async/eventual.js';

class Settled extends Eventual<number> {
  override resolve(value: number): void {
    super.resolve(value);
  }

  override reject(error: unknown): void {
    super.reject(error);
  }
}

/** What those are told who follow one. */
function follow(one: Eventual<number>, name: string, told: unknown[]): void {
  one.then(
    (value) => told.push([name, value]),
    (error) => told.push([name, error]),
  );
}

describe('what comes later without a promise', () => {
  it('tells all who wait for it at once, in the order in which they asked, and those who come later', () => {
    for (const how of ['resolve', 'reject'] as const) {
      const one = new Settled();
      const told: unknown[] = [];
      for (const name of ['a', 'b', 'c']) follow(one, name, told);
      expect(one.isSettled).to.equal(false);
      one[how](1);
      expect(told).to.deep.equal([
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ]);
      expect(one.isSettled).to.equal(true);
      follow(one, 'late', told);
      expect(told.at(-1)).to.deep.equal(['late', 1]);
    }
  });

  it('settles once', () => {
    const told: unknown[] = [];
    for (const [first, second] of [
      ['resolve', 'reject'],
      ['reject', 'resolve'],
    ] as const) {
      const one = new Settled();
      follow(one, first, told);
      one[first](1);
      one[second](2);
    }
    expect(told).to.deep.equal([
      ['resolve', 1],
      ['reject', 1],
    ]);
  });

  it('can be awaited', async () => {
    const good = new Settled();
    const bad = new Settled();
    setImmediate(() => {
      good.resolve(1);
      bad.reject(new TypeError('no'));
    });
    expect([good, 1, null, undefined].map(isLater)).to.deep.equal([true, false, false, false]);
    expect(await good).to.equal(1);
    expect(await Promise.allSettled([bad])).to.have.nested.property('0.reason.message', 'no');
  });
});
