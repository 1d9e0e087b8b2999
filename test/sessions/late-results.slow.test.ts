import { expect } from 'chai';
import { memoryStore, type Store, StoreError } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { waiting } from './prompted-app.js';

describe('the result of a run', () => {
  it('is told though it ended while it was looked up and could not be read then', async () => {
    const { app, word, began } = waiting();
    const inner = memoryStore();
    let looked = 0;
    const [asked, told] = [gate(), gate()];
    const store = new Proxy(inner, {
      get(target, name) {
        const member = target[name as keyof Store];
        if (typeof member !== 'function') return member;
        return (...args: never[]): unknown => {
          const isLookup = name === 'run' && 'runId' in (args as unknown as Parameters<Store['run']>)[1];
          if (isLookup) looked += 1;
          if (isLookup && looked === 2) throw new StoreError('UNAVAILABLE', 'Not now');
          // Between the two lookups.
          if (name === 'read' && looked === 1) {
            asked.open();
            return told.passed.then(() => target.read(...(args as unknown as Parameters<Store['read']>)));
          }
          return (member as (...all: never[]) => unknown).apply(target, args);
        };
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
