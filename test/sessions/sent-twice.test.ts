import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { memoryStore } from '../../server/index.js';
import { heldApp } from '../support/apps.js';
import { embedGateway } from '../support/embedded.js';
import { overriding } from '../support/overriding.js';

describe('a send that comes twice at once', () => {
  it('is refused each time, with a store that takes its time to say so', async () => {
    const { app, held } = heldApp();
    const inner = memoryStore();
    const store = overriding(inner, { run: async (...given) => setImmediate(inner.run(...given)) });
    const session = embedGateway({ app, store }).session('main');
    await session.send('first').accepted;
    const again = () =>
      session.send('second', { idempotencyKey: 'k', onBusy: 'reject' }).accepted.then(
        () => 'accepted',
        ({ code }) => code,
      );
    expect(await Promise.all([again(), again(), again()])).to.deep.equal(Array(3).fill('SESSION_BUSY'));
    held.open();
  });
});
