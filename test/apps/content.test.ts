import { expect } from 'chai';
import { z } from 'zod';
import { defineApp } from '../../server/index.js';
import { connectClient, failure } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const charts = defineApp({
  data: { chart: z.object({ points: z.array(z.number()) }) },
  questions: { day: z.object({ day: z.iso.date().transform((text) => new Date(text).getUTCDate()) }) },
  async *run(turn) {
    if (turn.text === 'wrong') turn.data('chart', { points: ['one'] as never });
    turn.data('chart', { points: [1, 2] });
    const { day } = await turn.ask({ name: 'day', payload: 'Which day?' });
    yield `day ${day}`;
  },
});

describe('what an app declares of its content', () => {
  it('checks data blocks: one that does not fit ends the run and is not logged', async () => {
    const { url } = await startGateway({ app: charts });
    const { error, message } = await connectClient(url).send('main', 'wrong').result;
    expect(error).to.include({ code: 'INVALID_PARAMS' });
    expect(error?.message).to.match(/^Invalid payload of chart: points\.0/);
    expect(message.content.filter(({ type }) => type === 'data')).to.deep.equal([]);
  });

  it('is the schema of a question, and its answer is given to what carries the call', async () => {
    const { gateway, url } = await startGateway({ app: charts });
    const session = connectClient<typeof gateway>(url).session('main');
    const watch = session.watch();
    const stop = watch.subscribe(() => {});
    const run = session.send('go');
    await until(() => watch.getSnapshot().pending.length > 0);
    const [asked] = watch.getSnapshot().pending;
    expect(asked).to.nested.include({ name: 'day', 'schema.properties.day.format': 'date' });
    const refused = await failure(session.respond(asked!, { output: { day: 'soon' } }));
    expect(refused).to.include({ code: 'INVALID_PARAMS' });
    await session.respond(asked!, { output: { day: '2026-05-17' } });
    const { message } = await run.result;
    expect(message.content).to.deep.include({ type: 'text', text: 'day 17' });
    stop();
  });
});
