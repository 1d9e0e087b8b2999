import { expect } from 'chai';
import { z } from 'zod';
import { defineApp } from '../../server/index.js';
import { connectClient, failure, takeUntil } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

/** Yields what `turn.data` and `turn.emit` would have refused. */
const yielding = defineApp({
  data: { chart: z.object({ points: z.array(z.number()) }) },
  async *run(turn) {
    if (turn.text === 'data') yield { type: 'data', id: 'c', name: 'chart', value: { points: ['one'] } };
    else yield { type: 'custom', name: 'task:created', payload: { id: 'one' } };
    yield 'done';
  },
});

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

  for (const kind of ['data', 'custom']) {
    it(`checks what an app yields as what it says by its turn (${kind})`, async () => {
      const { url } = await startGateway({
        app: yielding,
        events: { 'task:created': z.object({ id: z.number() }) },
      });
      const client = connectClient(url);
      const { error, message } = await client.send('main', kind).result;
      expect(error).to.include({ code: 'INVALID_PARAMS' });
      expect(message.content.filter(({ type }) => type === 'data')).to.deep.equal([]);
      const log = client.events('main', { from: 'earliest' });
      const logged = await takeUntil(log, ({ type }) => type === 'message_end');
      expect(logged.map(({ type }) => type)).not.to.include(kind);
      await log.return?.();
    });
  }
});
