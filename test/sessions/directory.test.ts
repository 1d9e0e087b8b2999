import { expect } from 'chai';
import type { Subscription } from '../../server/delivery/subscription.js';
import { memoryStore } from '../../server/index.js';
import { directoryOn, refOf } from '../support/directory.js';
import { overriding } from '../support/overriding.js';

describe('the sessions of a process', () => {
  it('leave memory when they are not used, also where one of them cannot be read', async () => {
    const inner = memoryStore();
    const bad = new Set<string>();
    const store = overriding(inner, {
      release(ref, term) {
        if (bad.has(ref.name)) throw new Error('damaged');
        return inner.release(ref, term);
      },
    });
    const { directory, reports } = directoryOn(store);
    for (let i = 0; i < 120; i++) {
      const session = directory.get(refOf(`n${i}`));
      const held = await session.take({ userId: 'u' });
      held!.publisher.publish('c', 't', 1);
      await held!.log.settled();
      session.usedAt = performance.now() - 3_600_000;
    }
    bad.add('n3');
    await directory.sweep();
    expect([...directory.values()].map(({ ref }) => ref.name)).to.deep.equal(['n3']);
    expect(reports).to.deep.equal(['giving up session n3']);
  });

  it('are forgotten when nobody follows them any more and they never began', () => {
    const { directory } = directoryOn(memoryStore());
    const follower = { pump() {} } as unknown as Subscription;
    for (let i = 0; i < 1000; i++) {
      const session = directory.get(refOf(`n${i}`));
      session.attach(follower);
      session.detach(follower, true);
    }
    expect([...directory.values()]).to.have.length(0);
  });

  it('are one object each for as long as somebody holds it', async () => {
    const { directory } = directoryOn(memoryStore());
    const held = directory.get(refOf('held'));
    await held.take({ userId: 'u' });
    held.usedAt = performance.now() - 3_600_000;
    await directory.sweep();
    expect([...directory.values()], 'given up').to.have.length(0);
    expect(directory.get(refOf('held'))).to.equal(held);
    await held.retire();
    held.usedAt = performance.now() - 3_600_000;
    await directory.sweep();
    await held.look();
    expect(directory.peek(refOf('held')), 'opened by who held it').to.equal(held);
  });
});
