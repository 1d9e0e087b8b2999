import { expect } from 'chai';
import { memoryStore } from '../../server/index.js';
import { StoreError } from '../../server/stores/index.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { waiting } from './prompted-app.js';

describe('the result of a run', () => {
  it('is told though it ended while it was looked up and could not be read then', async () => {
    const { app, word, began } = waiting();
    const inner = memoryStore();
    let looked = 0;
    const [asked, told] = [gate(), gate()];
    const store = overriding(inner, {
      run(ref, by) {
        if ('runId' in by) looked += 1;
        if ('runId' in by && looked === 2) throw new StoreError('UNAVAILABLE', 'Not now');
        return inner.run(ref, by);
      },
      read(...args) {
        if (looked !== 1) return inner.read(...args);
        // Between the two lookups.
        asked.open();
        return told.passed.then(() => inner.read(...args));
      },
    });
    const { gateway } = await startGateway({ app, store });
    const session = gateway.session('main', { user: { id: 'alice' } });
    const run = session.send('x');
    const { runId } = await run.accepted;
    await began.passed;
    looked = 0;
    const { result } = session.run(runId);
    await asked.passed;
    word.open('done');
    await run.result;
    told.open();
    expect((await result).stopReason).to.equal('end');
    expect(looked).to.equal(3);
  });
});
