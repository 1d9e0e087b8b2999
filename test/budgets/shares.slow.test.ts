import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import type { Budget } from '../../shared/budgets/options.js';
import { gate } from '../support/gate.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNode } from '../support/nodes.js';
import { passing } from '../support/overriding.js';
import { until } from '../support/until.js';

const LIMIT = 40;
const budget: Budget = {
  ...{ name: 'all', per: 'app', period: 'ever', reached: 'stop' },
  limit: { tokens: LIMIT * 10 },
};

/** Two gateways whose runs make calls until the budget ends them. The first one stands still after two calls, until it is let on. */
async function startBoth() {
  const made = { first: 0, second: 0 };
  const [stands, goesOn] = [gate(), gate()];
  const app = defineApp({
    run: async (turn) => {
      const name = turn.session.id as keyof typeof made;
      for (;;) {
        if (name === 'first' && made.first === 2) {
          // Both of its calls are in the ledger.
          stands.open();
          await goesOn.passed;
        }
        made[name] += 1;
        await turn.usage({ inputTokens: 10 });
      }
    },
  });
  const hub = new MemoryHub();
  const start = (): Promise<Node> => startNode(hub, { app, budgets: [budget] });
  const [first, second] = [await start(), await start()];
  const stopped = async ({ client }: Node, name: string): Promise<string> =>
    (await client.send(name, 'go').result).stopReason;
  const ofFirst = stopped(first, 'first');
  ofFirst.catch(() => {});
  await stands.passed;
  return { made, goesOn, first, ofFirst, second, ofSecond: stopped(second, 'second') };
}

describe('a share of a budget', () => {
  it('is left alone by other gateways, so that all together pass the limit by one call each', async () => {
    const { made, goesOn, ofFirst, ofSecond } = await startBoth();
    await until(() => made.second >= LIMIT * 0.6);
    goesOn.open();
    expect([await ofFirst, await ofSecond]).to.deep.equal(['budget', 'budget']);
    expect(made.first + made.second).to.be.within(LIMIT, LIMIT + 2);
  });

  it('that a gateway leaves as it is killed is drawn by the others', async () => {
    const { made, first, second, ofSecond } = await startBoth();
    first.node.kill();
    expect(await ofSecond).to.equal('budget');
    expect(made.first + made.second).to.be.within(LIMIT, LIMIT + 1);
    const [row] = await second.gateway.usage();
    expect(row!.calls).to.equal(made.first + made.second);
  });

  it('is drawn without a reading of the ledger', async () => {
    const hub = new MemoryHub();
    let readings = 0;
    const app = defineApp({
      run: async (turn) => {
        for (let call = 0; call < 200; call += 1) await turn.usage({ inputTokens: 10 });
        return 'done';
      },
    });
    const { client } = await startNode(hub, {
      ...{
        app,
        budgets: [
          { ...budget, limit: { tokens: 1e6 } },
          { ...budget, name: 'own', per: 'session' },
        ],
      },
      store: (own) =>
        passing(own, (name, call) => {
          if (name === 'records') readings += 1;
          return call();
        }) as never,
    });
    await client.send('main', 'go').result;
    expect(readings).to.be.below(200);
  });
});
