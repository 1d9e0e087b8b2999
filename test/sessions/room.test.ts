import { expect } from 'chai';
import { defineApp, memoryStore, type Store } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';

/** How often open sessions are counted while so many begin. */
async function counts(sessionsPerUser: number): Promise<number> {
  const inner = memoryStore();
  let count = 0;
  const store = new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name === 'count') count += 1;
      const member = target[name];
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
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
