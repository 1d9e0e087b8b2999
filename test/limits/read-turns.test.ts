import { expect } from 'chai';
import { ReadTurns } from '../../server/limits/read-turns.js';
import { personOf as who } from '../support/users.js';

/** Holds the event loop for some milliseconds, as a read of a long list does. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the reads of a person', () => {
  it('run at once and in place, as long as they take up little', () => {
    const turns = new ReadTurns(() => 8);
    expect(turns.run(who('ann'), () => 'read')).to.equal('read');
    expect(turns.run(who('ann'), () => 'again')).to.equal('again');
  });

  it('wait for later turns once they have taken up their time of this one, and others do not', async () => {
    const turns = new ReadTurns(() => 8);
    const order: string[] = [];
    const read = (id: string, name: string, ms: number): unknown =>
      turns.run(who(id), () => {
        work(ms);
        order.push(name);
      });
    const asked = [1, 2, 3].map((n) => read('ann', `ann ${n}`, 6));
    read('ben', 'ben', 0);
    expect(order).to.deep.equal(['ann 1', 'ben']);
    await nextTurn();
    read('ben', 'ben again', 0);
    await Promise.all(asked);
    expect(order).to.deep.equal(['ann 1', 'ben', 'ann 2', 'ben again', 'ann 3']);
  });

  it('are under way no more than so many at once, and each of those that wait has its turn in order', async () => {
    const turns = new ReadTurns(() => 2);
    const ends: (() => void)[] = [];
    let most = 0;
    let open = 0;
    const order: number[] = [];
    const asked = [0, 1, 2, 3, 4].map((n) =>
      turns.run(who('ann'), async () => {
        order.push(n);
        open += 1;
        most = Math.max(most, open);
        await new Promise<void>((resolve) => ends.push(resolve));
        open -= 1;
      }),
    );
    for (let done = 0; done < asked.length; ) {
      await nextTurn();
      const end = ends.shift();
      if (!end) continue;
      end();
      done += 1;
    }
    await Promise.all(asked);
    expect(most).to.equal(2);
    expect(order).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('are refused once too many wait, and a read that fails makes room for the next', async () => {
    const turns = new ReadTurns(() => 1);
    const failed = turns.run(who('ann'), async () => {
      await nextTurn();
      throw new Error('no');
    }) as Promise<never>;
    const waiting = Array.from({ length: 32 }, (_, n) => turns.run(who('ann'), () => n));
    expect(() => turns.run(who('ann'), () => 'one too many')).to.throw('limits.readsAtOnce');
    expect(turns.run(who('ben'), () => 'ben')).to.equal('ben');
    expect(await failed.catch((error: Error) => error.message)).to.equal('no');
    expect(await Promise.all(waiting)).to.deep.equal(waiting.map((_, n) => n));
    expect(turns.run(who('ann'), () => 'free')).to.equal('free');
  });
});
