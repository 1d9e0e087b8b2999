import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Budget } from '../../shared/budgets/options.js';
import { connectClient } from '../support/client.js';
import { newDatabase } from '../support/durable.js';
import { post, startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const budget = (tokens: number): Budget => ({
  ...{ name: 'b', per: 'person', period: 'day', zone: 'Asia/Kolkata' },
  ...{ limit: { tokens }, reached: 'ask' },
});

describe('a run that waits for a budget and is parked', () => {
  for (const again of ['where it was', 'at the next process'])
    it(`goes on by itself, once, when the budget is raised, ${again}`, async () => {
      const laps: string[] = [];
      const app = defineApp({
        resumable: true,
        async *run(turn) {
          laps.push(turn.resumed ? 'resumed' : 'began');
          for (let n = 1; n <= 3; n += 1)
            await turn.step('call', async () => {
              laps.push(`call ${n}`);
              return turn.usage({ inputTokens: 10 });
            });
          yield 'done';
        },
      });
      const path = newDatabase();
      const config = { app, budgets: [budget(10)], limits: { parkMs: 300 } };
      let { gateway, url } = await startGateway({ ...config, store: sqliteStore({ path }) });
      const { body } = await post(
        `${url}/send`,
        { sessionId: 'main', message: 'go' },
        { prefer: 'respond-async' },
      );
      await until(() => gateway.stats().sessions.held === 0);
      if (again !== 'where it was') {
        await gateway.close();
        ({ gateway, url } = await startGateway({ ...config, store: sqliteStore({ path }) }));
      }
      expect(laps.filter((lap) => lap.startsWith('call'))).to.deep.equal(['call 1']);
      await gateway.budgets.set(budget(1000));
      const { message, stopReason } = await connectClient(url).session('main').run(body.runId).result;
      expect([stopReason, message.content]).to.deep.equal(['end', [{ type: 'text', text: 'done' }]]);
      expect(laps.filter((lap) => lap.startsWith('call'))).to.deep.equal(['call 1', 'call 2', 'call 3']);
      const [row] = await gateway.usage();
      expect(row!.inputTokens).to.equal(30);
    });
});
