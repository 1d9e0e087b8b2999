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

  it('goes on in the next version of its app, which does not ask for it', async () => {
    const laps: string[] = [];
    const appOf = (version: string) =>
      defineApp({
        ...{ version, accepts: '*', resumable: true },
        async *run(turn) {
          for (let n = 1; n <= 2; n += 1)
            await turn.step('call', async () => {
              laps.push(`${version} ${n}`);
              return turn.usage({ inputTokens: 10 });
            });
          yield `done by ${version}`;
        },
      });
    const path = newDatabase();
    const first = await startGateway({
      app: appOf('1'),
      budgets: [budget(10)],
      store: sqliteStore({ path }),
    });
    const { body } = await post(
      `${first.url}/send`,
      { sessionId: 'main', message: 'go' },
      { prefer: 'respond-async' },
    );
    const asked = async (url: string) => (await connectClient(url).session('main').state()).pending;
    await until(async () => (await asked(first.url)).length === 1);
    await first.gateway.close();
    const next = await startGateway({ app: appOf('2'), budgets: [budget(10)], store: sqliteStore({ path }) });
    const session = connectClient(next.url).session('main');
    const [question] = await asked(next.url);
    await session.respond(question!.callId, { approved: true });
    const { message } = await session.run(body.runId).result;
    expect(message.content).to.deep.equal([{ type: 'text', text: 'done by 2' }]);
    expect(laps).to.deep.equal(['1 1', '2 2']);
  });

  it('is no tool of the same name that asks', async () => {
    const app = defineApp({
      async *run(turn) {
        const { approved } = await turn.confirm({ name: 'budget', input: { budget: 'b' }, approvals: 1 });
        yield approved ? 'yes' : 'no';
      },
    });
    const { gateway, url } = await startGateway({ app, budgets: [budget(10)] });
    const session = connectClient(url).session('main');
    const run = session.send('go');
    await until(async () => (await session.state()).pending.length === 1);
    await gateway.budgets.set(budget(1000));
    const [question] = (await session.state()).pending;
    await session.respond(question!.callId, { approved: false });
    expect((await run.result).message.content).to.deep.equal([{ type: 'text', text: 'no' }]);
  });
});
