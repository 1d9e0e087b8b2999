import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { overriding } from '../support/overriding.js';

/** How often open sessions are counted while so many begin. */
async function counts(sessionsPerUser: number): Promise<number> {
  const inner = memoryStore();
  let count = 0;
  const store = overriding(inner, {
    count(...args) {
      count += 1;
      return inner.count(...args);
    },
  });
  const limits = { sessionsPerUser, shared: { sessions: sessionsPerUser } };
  const gateway = embedGateway({ app: defineApp({ run: () => 'x' }), store, limits });
  for (let i = 0; i < 3; i++) await gateway.session(`s${i}`).send('x').result;
  return count;
}

describe('a session that begins', () => {
  it('has the open ones counted where their number has a limit, and not where it has none', async () => {
    expect(await counts(5)).to.equal(3);
    expect(await counts(Number.POSITIVE_INFINITY)).to.equal(0);
  });
});
