import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { type Gate, gate } from '../support/gate.js';
import { heldStore } from '../support/held-store.js';

describe('a message that steers, while an interrupt is on its way to the store', () => {
  it('stands behind the interrupting message and before all that wait, and reaches its run', async () => {
    const begun = new Map<string, Gate>();
    const go = gate();
    const steered: string[] = [];
    const order: string[] = [];
    const beginning = (text: string): Gate => {
      const known = begun.get(text) ?? gate();
      begun.set(text, known);
      return known;
    };
    const app = defineApp({
      run: async (turn) => {
        order.push(turn.text);
        beginning(turn.text).open();
        if (turn.text === 'first') await new Promise(() => {});
        if (turn.text === 'interrupts') {
          await go.passed;
          steered.push(...turn.steered().map(({ content }) => (content[0] as { text: string }).text));
        }
        return 'said';
      },
    });
    const held = heldStore(memoryStore());
    const session = embedGateway({ app, store: held.store }).session('main');
    session.send('first');
    await beginning('first').passed;
    const waiting = ['one', 'two', 'three'].map((text) => session.send(text));
    for (const run of waiting) await run.accepted;
    const arrives = held.hold();
    const interrupts = session.send('interrupts', { onBusy: 'interrupt' });
    await arrives;
    const steers = session.send('steers', { onBusy: 'steer' });
    held.release();
    expect((await interrupts.accepted).position).to.equal(0);
    expect((await steers.accepted).position, 'behind the one that interrupts').to.equal(1);
    go.open();
    expect((await steers.result).stopReason).to.equal('steered');
    expect(steered).to.deep.equal(['steers']);
    for (const run of waiting) await run.result;
    expect(order).to.deep.equal(['first', 'interrupts', 'one', 'two', 'three']);
  });
});
