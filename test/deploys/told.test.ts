import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { metricsPlugin } from '../../server/plugins/metrics/index.js';
import { Receiver, SECRET } from '../notices/receiver.js';
import { connectClient } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { until } from '../support/until.js';

const METRICS_TOKEN = 'a-token-for-metrics-of-32-characters';

const asking = (version: string) =>
  defineApp({ version, resumable: true, run: async (turn) => String(await turn.ask({ name: 'sure' })) });

describe('a held run', () => {
  it('is told to who is away, once, and counted for operators once it was looked at', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: asking('1') });
    for await (const event of connectClient(first.url).send('main', 'go'))
      if (event.type === 'input_required') break;
    const copy = crashed(path);
    const receiver = await Receiver.start();
    const notify = {
      ...{ on: ['run_held' as const], unseenMs: 0, allowPrivate: true },
      webhooks: { url: receiver.url, secrets: SECRET },
    };
    const second = await startDurable(copy, { app: asking('2'), notify });
    const [received] = await receiver.until((all) => all.length > 0);
    expect(received!.body.type).to.equal('run_held');
    expect(received!.body.data).to.include({ kind: 'run_held', sessionId: 'main' });
    await second.gateway.close();

    const third = await startDurable(copy, { app: asking('2'), notify });
    third.gateway.use(metricsPlugin({ token: METRICS_TOKEN }));
    const text = async (): Promise<string> =>
      (await fetch(`${third.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })).text();
    await until(async () => /runs_held\{/.test(await text()));
    expect(await text()).to.match(/^agent_gateway_runs_held\{app="default",version="1"\} 1$/m);
    expect(receiver.all).to.have.length(1);
  });
});
