import { expect } from 'chai';
import { z } from 'zod';
import { sessionReactions } from '../../client/people/index.js';
import { type DatasetEntry, exportDataset } from '../../server/features/recording/index.js';
import { defineApp, tool } from '../../server/index.js';
import { testGateways } from '../../testing/index.js';

const start = testGateways(afterEach);
const app = defineApp({
  tools: { weather: tool({ schema: z.object({ city: z.string() }), handler: () => 'rain' }) },
  async *run(turn) {
    if (turn.text === 'together') {
      turn.usage({ inputTokens: 1 });
      const child = turn.spawn('default', { message: 'Oslo', id: 'north' });
      return void (yield `It is ${(await child.result).text}`);
    }
    if (turn.text === 'fail') throw new Error('the model is down');
    turn.usage({ inputTokens: 3 });
    turn.annotate({ rating: 5 });
    yield `${await turn.callTool('weather', { city: turn.text })} in ${turn.text}`;
  },
});

async function entries(lines: AsyncIterable<string>): Promise<DatasetEntry[]> {
  const all: DatasetEntry[] = [];
  for await (const line of lines) {
    expect(line.endsWith('\n')).to.equal(true);
    all.push(JSON.parse(line) as DatasetEntry);
  }
  return all;
}

describe('a dataset', () => {
  it('has each answer with what led to it, its tools, its end and its feedback', async () => {
    const { gateway, client } = await start({ app }).then((it) => ({
      gateway: it.gateway,
      client: it.client({ user: 'ada' }),
    }));
    for (const text of ['Oslo', 'Rome', 'fail']) await client.send('main', text).result;
    await client.session('main').update({ metadata: { thumbs: 'up' } });
    await client.send('other', 'Lima').result;
    await client.session('other').update({ archived: true });
    const ada = { user: { id: 'ada' } };
    const all = await entries(exportDataset(gateway, ada));
    expect(
      all.map(({ sessionId, input, output, stopReason }) => [sessionId, input, output, stopReason]),
    ).to.deep.equal([
      ['main', 'Oslo', 'rain in Oslo', 'end'],
      ['main', 'Rome', 'rain in Rome', 'end'],
      ['main', 'fail', '', 'error'],
      ['other', 'Lima', 'rain in Lima', 'end'],
    ]);
    expect(all[1]).to.deep.include({
      history: [
        { role: 'user', text: 'Oslo' },
        { role: 'assistant', text: 'rain in Oslo' },
      ],
      tools: [{ name: 'weather', input: { city: 'Rome' }, output: 'rain', isError: false }],
      usage: { inputTokens: 3 },
      feedback: { message: { rating: 5 }, session: { thumbs: 'up' } },
    });
    const some = exportDataset(gateway, { ...ada, sessions: ({ metadata }) => metadata?.thumbs === 'up' });
    expect(await entries(some)).to.have.length(3);
    expect(await entries(exportDataset(gateway, { user: { id: 'bob' } }))).to.deep.equal([]);
  });

  it('has the runs under that of an answer, what all have used, and what people say to it', async () => {
    const it = await start({ app });
    const client = it.client({ user: 'ada' });
    const { message, runId } = await client.send('main', 'together').result;
    await sessionReactions(client, 'main').react(message.id, { value: 'up', comment: 'Right' });
    const [entry] = await entries(exportDataset(it.gateway, { user: { id: 'ada' } }));
    const [child] = entry!.children;
    expect(child!.runId).to.not.equal(runId);
    expect(entry!.children).to.deep.equal([
      {
        ...{ runId: child!.runId, app: 'default', name: 'north', parentRunId: runId, stopReason: 'end' },
        ...{ usage: { inputTokens: 3 }, input: 'Oslo', output: 'rain in Oslo' },
        tools: [{ name: 'weather', input: { city: 'Oslo' }, output: 'rain', isError: false }],
      },
    ]);
    expect([entry!.usage, entry!.totalUsage]).to.deep.equal([{ inputTokens: 1 }, { inputTokens: 4 }]);
    const [reaction] = entry!.feedback.reactions!;
    expect(reaction).to.include({ by: 'ada', value: 'up', comment: 'Right' });
  });

  it('has all sessions, over many pages', async () => {
    const it = await start({ app, limits: { sendsPerSecond: 1_000 } });
    const client = it.client({ user: 'ada' });
    await Promise.all(Array.from({ length: 60 }, (_, n) => client.send(`s${n}`, `city ${n}`).result));
    const all = await entries(exportDataset(it.gateway, { user: { id: 'ada' } }));
    expect(new Set(all.map(({ sessionId }) => sessionId)).size).to.equal(60);
  });
});
