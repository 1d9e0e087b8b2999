import { expect } from 'chai';
import { keepingGrant } from '../../server/grants/grant-record.js';
import { HeldGrants } from '../../server/held/held-grants.js';
import type { HeldSession } from '../../server/held/held-session.js';
import { memoryStore } from '../../server/stores/memory.js';
import { newTestEpoch, refOf, TestWriter } from '../../testing/stores/records.js';
import { failure } from '../support/client.js';
import { gate } from '../support/gate.js';

/** The grants of a session that is held, and how to keep one in its store. */
async function open() {
  const store = memoryStore();
  await store.open();
  const epoch = newTestEpoch();
  const { log } = await TestWriter.acquire(store, refOf(), { epoch });
  const env = { limits: { guardMs: Number.POSITIVE_INFINITY } };
  const grants = new HeldGrants({ env, store, ref: refOf(), log: { ref: log } } as unknown as HeldSession);
  const give = async (grantId: string): Promise<void> => {
    const grant = { grantId, as: 'viewer', by: 'ann', with: { userId: 'ben' }, at: 1 } as const;
    await store.changeRecords(refOf(), keepingGrant({ grant, userKey: 'ben' }, epoch));
  };
  const refusal = async () =>
    (await failure(Promise.resolve().then(() => grants.during('g', () => 'done')))).code;
  return { grants, give, refusal };
}

describe('the grants of a session that is held', () => {
  it('stay closed while one of two tries to end them is under way, however the other comes out', async () => {
    const { grants, give, refusal } = await open();
    await give('g');
    expect(await grants.during('g', () => 'done')).to.equal('done');
    const [first, second] = [await grants.end('g'), await grants.end('g')];
    first(false);
    expect(await refusal()).to.equal('SESSION_NOT_FOUND');
    second(false);
    expect(await grants.during('g', () => 'done')).to.equal('done');
  });

  it('stay ended where one try has ended them and the other one has not', async () => {
    const { grants, give, refusal } = await open();
    await give('g');
    await grants.during('g', () => 'done');
    const [first, second] = [await grants.end('g'), await grants.end('g')];
    first(true);
    second(false);
    expect(await refusal()).to.equal('SESSION_NOT_FOUND');
  });

  it('tell all that wait for their work that it is done', async () => {
    const { grants, give } = await open();
    await give('g');
    const work = gate();
    const working = grants.during('g', () => work.passed);
    await new Promise(setImmediate);
    const ends = [grants.end('g'), grants.end('g'), grants.end('g')];
    work.open();
    await working;
    for (const settle of await Promise.all(ends)) settle(true);
  });

  it('are not remembered where there is none of a name: it is looked for again', async () => {
    const { grants, give, refusal } = await open();
    const [first, second] = [await grants.end('g'), await grants.end('g')];
    first(false);
    second(false);
    expect(await refusal()).to.equal('SESSION_NOT_FOUND');
    await give('g');
    expect(await grants.during('g', () => 'done')).to.equal('done');
  });
});
