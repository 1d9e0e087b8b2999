import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { gate } from '../support/gate.js';
import { heldStore } from '../support/held-store.js';

const afterTurn = (): Promise<void> => new Promise(setImmediate);

describe('the place of a message in the queue', () => {
  it('is behind all that wait in the log, also while the next of them has begun and that is not stored', async () => {
    const begun = gate();
    const ends = gate();
    const app = defineApp({
      run: async (turn) => {
        if (turn.text !== 'first') return 'said';
        begun.open();
        await ends.passed;
        return 'said';
      },
    });
    const held = heldStore(memoryStore());
    const session = embedGateway({ app, store: held.store }).session('main');
    session.send('first');
    await begun.passed;
    for (const text of ['second', 'third']) await session.send(text).accepted;
    const arrives = held.hold();
    session.send('fourth');
    await arrives;
    const last = session.send('fifth');
    await afterTurn();
    ends.open();
    await afterTurn();
    held.release();
    expect((await last.accepted).position).to.equal(4);
  });
});
