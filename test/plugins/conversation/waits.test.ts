import { expect } from 'chai';
import type { Person } from '../../../server/auth/types.js';
import { CallerWaits } from '../../../server/plugins/conversation/waits.js';
import { peersOf } from '../../../server/plugins/plugin-peers.js';
import { alone } from '../../support/alone.js';
import { closeLater } from '../../support/resources.js';

describe('what waits for callers of a door', () => {
  it('is taken by one of those who come at once', async () => {
    const { errands, notes } = alone();
    const waits = closeLater(
      new CallerWaits<string>(
        { peers: peersOf('door', errands, notes), report: () => {} },
        { waitMs: 60_000, names: (kept) => [kept], end: async () => {} },
      ),
      (it) => it.settled(),
    );
    const person = { scope: 'a', key: 'b' } as Person;
    await waits.add(person, 'one');
    const taken = await Promise.all([1, 2, 3].map(() => waits.take(person, ['one'])));
    expect(taken.filter((kept) => kept !== null)).to.deep.equal(['one']);
  });
});
