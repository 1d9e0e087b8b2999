import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import type { Budget } from '../../shared/budgets/options.js';
import type { MakePlace, Node, Place } from '../cluster/place.js';
import { postgresPlace } from '../cluster/postgres-place.js';
import { redisPlace } from '../cluster/redis-place.js';
import { startOn } from '../support/nodes.js';
import { describeWithPostgres } from '../support/postgres-server.js';
import { randomOf } from '../support/random.js';
import { describeWithRedis, endSharedRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const RUNS = Number(process.env.RUNS ?? 200);
const TOKENS = 10;

/** The calls of an app, as it counts them itself. */
class Calls {
  readonly made = new Set<string>();
  readonly stored = new Set<string>();

  /** Runs that make calls until a budget ends them, each in a step of its own. */
  readonly app = defineApp({
    resumable: true,
    run: async (turn) => {
      for (let n = 1; n <= 50; n += 1) {
        const id = `${turn.session.id} ${n}`;
        await turn.step('call', () => {
          this.made.add(id);
          return n;
        });
        await turn.usage({ id: `call-${n}`, inputTokens: TOKENS });
        this.stored.add(id);
      }
      return 'done';
    },
  });
}

const budget = (limit: number): Budget => ({
  ...{ name: 'all', per: 'app', period: 'month', zone: 'Europe/Rome' },
  ...{ limit: { tokens: limit * TOKENS }, reached: 'stop' },
});

function bounds(this: Mocha.Suite, makePlace: MakePlace): void {
  this.timeout(600_000);
  let place: Place;

  beforeEach(async () => {
    place = await makePlace({});
  });

  const startAll = async (
    calls: Calls,
    budgets: readonly Budget[],
    storeMs: number,
  ): Promise<readonly Node[]> => {
    const nodes: Node[] = [];
    for (let n = 0; n < 3; n += 1)
      nodes.push(
        await startOn(await place.node(), {
          ...{ id: `gw${n}`, app: calls.app, budgets, limits: { storeMs } },
        }),
      );
    return nodes;
  };

  it(`${RUNS} runs at three gateways by one budget: at most one call each beyond it, and the sums are the app's own count`, async () => {
    const calls = new Calls();
    const limit = 300;
    const nodes = await startAll(calls, [budget(limit)], 10_000);
    const sent = Array.from({ length: RUNS }, (_, n) => nodes[n % 3]!.client.send(`s${n}`, 'go'));
    const ends = await Promise.all(
      sent.map(({ result }) => result.then(({ stopReason }) => stopReason, String)),
    );
    for (const end of ends) expect(end).to.match(/^budget$|BUDGET|budget all is used up/);
    expect(calls.made.size).to.be.within(limit, limit + RUNS);
    for (const { gateway } of nodes) {
      const [row] = await gateway.usage();
      expect([row!.calls, row!.inputTokens]).to.deep.equal([calls.made.size, calls.made.size * TOKENS]);
    }
  });

  it('runs over the death of a gateway, each call counted once', async () => {
    const random = randomOf(7);
    const calls = new Calls();
    const nodes = await startAll(calls, [{ ...budget(100_000), reached: 'warn' }], 2000);
    const sent = Array.from({ length: 30 }, (_, n) => nodes[n % 3]!.client.send(`s${n}`, 'go'));
    for (const { accepted, result } of sent) {
      await accepted;
      result.catch(() => {});
    }
    await until(() => calls.made.size > 30 + random() * 300);
    nodes[0]!.node.kill();
    const { gateway } = nodes[1]!;
    await until(async () => {
      const { sessions } = await nodes[1]!.client.sessions({ limit: 100 });
      return sessions.every(({ status }) => status === 'idle');
    });
    expect(calls.stored.size).to.equal(30 * 50);
    const [row, ...others] = await gateway.usage();
    expect(others).to.deep.equal([]);
    expect([row!.calls, row!.inputTokens]).to.deep.equal([30 * 50, 30 * 50 * TOKENS]);
  });
}

describeWithRedis('budgets bound, on Redis,', function () {
  after(endSharedRedis);
  bounds.call(this, redisPlace);
});

describeWithPostgres('budgets bound, on PostgreSQL,', function () {
  bounds.call(this, postgresPlace);
});
