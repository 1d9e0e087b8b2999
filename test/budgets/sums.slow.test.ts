import { expect } from 'chai';
import { ownKey } from '../../server/ids.js';
import { defineApp, memoryStore, type Store } from '../../server/index.js';
import type { Budget } from '../../shared/budgets/options.js';
import { startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

/** An app whose run makes as many calls as its message says. */
const app = defineApp({
  async run(turn) {
    for (let call = 1; call <= Number(turn.text); call += 1)
      await turn.usage({ model: 'm', inputTokens: 8, outputTokens: 2, cost: 0.25, currency: 'USD' });
    return 'done';
  },
});

const ann = { user: { id: 'ann', roles: [] as string[] } };
const bob = { user: { id: 'bob', roles: [] as string[] } };

async function recordsIn(store: Store, owner: string, kinds: readonly string[]) {
  return (await Promise.all(kinds.map((kind) => store.records({ owner, kind, limit: 10 })))).flat();
}

describe('usage', () => {
  it('is the same before and after uses have joined the sums, for persons and sessions', async () => {
    const store = memoryStore();
    const { gateway } = await startGateway({ app, store });
    for (const [who, name] of [
      [ann, 'x'],
      [bob, 'x'],
      [ann, 'y'],
    ] as const)
      await (await gateway.session(name, who).send('3')).result;
    const read = async () => [
      await gateway.usage({ by: ['person', 'app', 'day'] }),
      await gateway.usage({ sessionId: 'x', scope: JSON.stringify([null, 'ann']) }),
      (await gateway.execute('usage', {}, bob)).usage,
    ];
    const before = await read();
    expect(before[0]!.map(({ person, calls }) => [person, calls])).to.deep.equal([
      ['ann', 6],
      ['bob', 3],
    ]);
    expect(before.slice(1).map(([row]) => row!.calls)).to.deep.equal([3, 3]);
    const left = async () =>
      (
        await Promise.all(
          [ann, bob].map(async ({ user }) =>
            store.records({ owner: JSON.stringify([null, user.id]), kind: 'use', limit: 1 }),
          ),
        )
      ).flat();
    expect(await left()).to.not.deep.equal([]);
    await until(async () => (await left()).length === 0);
    expect(await read()).to.deep.equal(before);
  });

  it('goes once it is kept no longer, with all that was counted of it', async () => {
    const store = memoryStore();
    const { gateway } = await startGateway({ app, store, usage: { keptMs: 500 } });
    await gateway.session('x', ann).send('3').result;
    const rows = async () => gateway.usage({ by: ['person'] });
    expect((await rows()).map(({ calls }) => calls)).to.deep.equal([3]);
    const owner = JSON.stringify([null, 'ann']);
    const kept = () => recordsIn(store, owner, ['use', 'usage-sum', 'usage-head']);
    await until(async () => (await rows()).length === 0);
    await until(async () => (await kept()).length === 0);
  });

  it('of a budget in a period goes a day behind its end', async () => {
    const store = memoryStore();
    const budget: Budget = { name: 'b', per: 'app', period: 'day', limit: { cost: 1 }, reached: 'warn' };
    const { gateway } = await startGateway({ app, store, budgets: [budget] });
    await gateway.session('x', ann).send('9').result;
    const day = 24 * 3_600_000;
    const begin = Math.floor(Date.now() / day) * day;
    const key = new Date(begin).toISOString().slice(0, 10);
    const owner = ownKey('budget', 'b', 'day', '', key, 'default');
    const summed = () => recordsIn(store, owner, ['usage-sum', 'usage-head']);
    await until(async () => (await summed()).length === 2);
    const told = await store.records({ home: { scope: ownKey('budgets') }, kind: 'budget-told', limit: 10 });
    expect(told.length).to.be.above(0);
    for (const { dueAt } of [...(await summed()), ...told]) expect(dueAt).to.equal(begin + 2 * day);
  });

  it('of a budget that is of a run goes with the run', async () => {
    const store = memoryStore();
    const budget: Budget = { name: 'b', per: 'app', period: 'run', limit: { cost: 1 }, reached: 'warn' };
    const { gateway } = await startGateway({ app, store, budgets: [budget] });
    const { runId } = await gateway.session('x', ann).send('9').result;
    const owner = ownKey('budget', 'b', 'run', '', runId, 'default');
    const kept = () => recordsIn(store, owner, ['use', 'usage-sum', 'usage-head', 'budget-told']);
    expect((await kept()).length).to.be.above(2);
    await until(async () => (await kept()).length === 0);
    const home = { scope: JSON.stringify([null, 'ann']), app: 'default', name: 'x' };
    await until(async () => (await store.records({ home, kind: 'usage-end', limit: 1 })).length === 0);
    expect((await gateway.usage())[0]!.calls).to.equal(9);
  });
});
