import { expect } from 'chai';
import { createGateway, defineApp } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import type { Store } from '../../server/stores/store.js';
import { TestLogger } from '../support/gateway.js';
import { passing } from '../support/overriding.js';
import { closeLater } from '../support/resources.js';
import { byName } from '../support/users.js';

const SECRET = 'what nobody may keep';
const user = { id: 'ann' };
const whose = { user };

/** Forks a session while everything of its user is erased at one call of the store. Null if the fork makes fewer calls. */
async function erasedAt(at: number, when: 'before' | 'after') {
  const inner = memoryStore();
  let left = Number.POSITIVE_INFINITY;
  let erase: () => Promise<unknown> = async () => null;
  const store: Store = passing(inner, (name, call) => {
    if (!/^(read|head|records|messages|run|acquire|append|count|changeRecords|record)$/.test(name))
      return call();
    return new Promise(setImmediate).then(async () => {
      left -= 1;
      if (left !== 0) return call();
      if (when === 'before') await erase();
      const answer = await call();
      if (when === 'after') await erase();
      return answer;
    });
  });
  const gateway = createGateway({
    ...{ port: 0, auth: byName, logger: new TestLogger(), store },
    app: defineApp({ run: ({ text }) => `You said ${text}` }),
  });
  closeLater(gateway, (it) => it.close());
  await gateway.start();
  await gateway.session('main', whose).send(SECRET).result;
  let erased: Promise<unknown> | null = null;
  // An erasure may wait for the fork: the fork must not wait for the erasure.
  erase = async () => {
    erased = gateway.erase(whose);
    await Promise.race([erased, new Promise((resolve) => setTimeout(resolve, 100))]);
  };
  left = at;
  await gateway.execute('fork', { sessionId: 'main', to: 'copy' }, whose).catch(() => {});
  if (left > 0) return null;
  await erased;
  const kept: unknown[] = [];
  for await (const ref of everyOf(inner)) {
    for (const epoch of await inner.conversations(ref)) {
      const events = await inner.read({ ...ref, epoch }, 0, 1000, 1e9);
      kept.push(...events.filter(({ body }) => body.includes(SECRET)).map(({ type }) => type));
    }
    if (await inner.record(ref)) kept.push(ref.name);
  }
  return kept;
}

async function* everyOf(store: Store) {
  const scope = JSON.stringify([null, user.id]);
  yield* await store.kept(scope, { limit: 100 });
}

describe('a fork that is on its way while its person is erased', () => {
  for (const when of ['before', 'after'] as const)
    it(`keeps nothing of what was erased, ${when} each call of the store`, async () => {
      let calls = 0;
      for (let at = 1; ; at++) {
        const kept = await erasedAt(at, when);
        if (!kept) break;
        calls += 1;
        expect(kept, `call ${at}`).to.deep.equal([]);
      }
      expect(calls).to.be.at.least(4);
    });
});
