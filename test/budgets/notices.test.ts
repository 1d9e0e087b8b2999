import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { begin } from '../notices/begin.js';
import { Receiver } from '../notices/receiver.js';
import { until } from '../support/until.js';

const app = defineApp({
  async run(turn) {
    for (let call = 1; call <= Number(turn.text); call += 1) await turn.usage({ inputTokens: 10 });
    return 'done';
  },
});

describe('the notices of a budget', () => {
  it('are told to webhooks, once for each part of it, and name the run that came to it', async () => {
    const receiver = await Receiver.start();
    const { client } = await begin(
      receiver.url,
      { on: ['budget_warned', 'budget_reached'] },
      {
        app,
        budgets: [
          { name: 'all', per: 'person', period: 'ever', limit: { tokens: 40 }, at: [0.5], reached: 'warn' },
        ],
      },
    );
    const { runId } = await client.send('main', '1').result;
    const second = await client.send('main', '2').result;
    const third = await client.send('other', '3').result;
    await receiver.until((all) => all.length >= 2);
    await client.send('main', '3').result;
    await until(() => receiver.all.length >= 2);
    const told = receiver.told.map(({ kind, sessionId, runId: of, userId }) => [kind, sessionId, of, userId]);
    expect(told.sort()).to.deep.equal([
      ['budget_reached', 'other', third.runId, 'token'],
      ['budget_warned', 'main', second.runId, 'token'],
    ]);
    expect(new Set(receiver.all.map(({ id }) => id)).size).to.equal(2);
    expect([second.runId, third.runId]).to.not.include(runId);
  });
});
