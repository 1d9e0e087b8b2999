import { expect } from 'chai';
import type { SentSlice } from '../../../server/app-adapters/remote/exchange.js';
import { WorkQueue } from '../../../server/app-adapters/remote/work-queue.js';
import { gate } from '../../support/gate.js';
import { closeLater } from '../../support/resources.js';

function queueAmongOthers() {
  const told: string[] = [];
  const queue = new WorkQueue({ silenceMs: 1000 });
  queue.join({ holder: 'gw.1', waits: () => told.push('waits'), wants: () => told.push('wants') });
  const left = closeLater(new AbortController(), (it) => it.abort());
  const take = (): Promise<string | null> => queue.take(60_000, left.signal);
  const carry = (body: string): void => {
    const { signal } = closeLater(new AbortController(), (it) => it.abort());
    const slice: SentSlice = { id: body, body, signal, done: null, began: () => {}, take: () => undefined };
    queue.carry(slice).catch(() => {});
  };
  return { queue, told, take, carry, leave: () => left.abort() };
}

describe('the queue of slices among those of other gateways', () => {
  it('tells the others of an asker again that was brought nothing, since one may have told of a slice meanwhile', async () => {
    const { queue, told, take } = queueAmongOthers();
    const asked = take();
    const [first, second] = [gate<string | null>(), gate<string | null>()];
    const brought = queue.bring(() => first.passed);
    // There is one asker, to whom something is being brought.
    await queue.bring(() => Promise.reject(new Error('asked for nobody')));
    first.open(null);
    await brought;
    expect(told).to.deep.equal(['wants', 'wants']);
    const again = queue.bring(() => second.passed);
    second.open('slice');
    expect(await asked).to.equal('slice');
    await again;
  });

  it('gives an asker that is brought nothing what came here meanwhile, and tells the others of that', async () => {
    for (const fails of [false, true]) {
      const { queue, told, take, carry } = queueAmongOthers();
      const asked = take();
      const door = gate();
      const brought = queue.bring(async () => {
        await door.passed;
        if (fails) throw new Error('It has died');
        return null;
      });
      carry('own');
      expect(told).to.deep.equal(['wants', 'waits']);
      door.open();
      expect(await asked).to.equal('own');
      await brought;
      expect(queue.isWaiting).to.equal(false);
    }
  });

  it('answers an asker whose time is over, and one that a closing gateway has, once it is known that nothing comes', async () => {
    const late = queueAmongOthers();
    const asked = late.take();
    const brought = late.queue.bring(async () => {
      late.leave();
      return null;
    });
    expect(await asked).to.equal(null);
    await brought;
    const closing = queueAmongOthers();
    const refused = closing.take().catch((error: { readonly code: string }) => error.code);
    await closing.queue.bring(async () => {
      closing.queue.close();
      return null;
    });
    expect(await refused).to.equal('SHUTTING_DOWN');
  });
});
