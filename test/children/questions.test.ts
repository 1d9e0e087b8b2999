import { expect } from 'chai';
import { defineApp, type Turn } from '../../server/index.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { FAST, get, post, startGateway } from '../support/gateway.js';
import { endOf, eventsUntil, foldOf, sendTo } from './tree.js';

const asking = defineApp({ run: async (turn: Turn) => `you said ${await turn.ask({ name: 'colour' })}` });

describe('a question of a run beside the conversation', () => {
  it('has the run wait, as GET /run says', async () => {
    const { url } = await startGateway({ app: asking, limits: FAST });
    const runId = await sendTo(url, 'go', { lane: 'new' });
    const [question] = foldOf(await eventsUntil(url, ({ event }) => event === 'input_required')).pending;
    const stateOf = async (): Promise<string> =>
      (await get(`${url}/run?sessionId=main&runId=${runId}`)).body.state;
    expect(await stateOf()).to.equal('waiting');
    await post(`${url}/tool-response`, { sessionId: 'main', callId: question!.callId, output: 'red' });
    await eventsUntil(url, endOf(runId));
    expect(await stateOf()).to.equal('ended');
  });

  it('has the clocks of its run and of all above it stand still', async () => {
    const app = defineApp({
      async run(turn: Turn) {
        if (turn.text === 'hang') return new Promise<string>(() => {});
        const { result } = turn.spawn('asker', {
          ...{ message: 'x', run: async (child: Turn) => `you said ${await child.ask({ name: 'colour' })}` },
        });
        return (await result).text;
      },
    });
    const { url } = await startGateway({ app, limits: { ...FAST, runMs: 300 } });
    const runId = await sendTo(url, 'go');
    const [question] = foldOf(await eventsUntil(url, ({ event }) => event === 'input_required')).pending;
    // Another run comes to the end of its time meanwhile.
    const other = await post(
      `${url}/send`,
      { sessionId: 'other', message: 'hang' },
      { accept: 'application/json' },
    );
    expect(other.body.stopReason).to.equal('timeout');
    await post(`${url}/tool-response`, { sessionId: 'main', callId: question!.callId, output: 'red' });
    const state = foldOf(await eventsUntil(url, endOf(runId)));
    expect(state.messages.at(-1)!.content).to.deep.equal([{ type: 'text', text: 'you said red' }]);
  });

  it('is gone with a run that a restart has lost: an answer to it is refused at once', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: asking, limits: FAST });
    const runId = await sendTo(first.url, 'go', { lane: 'new' });
    const [question] = foldOf(
      await eventsUntil(first.url, ({ event }) => event === 'input_required'),
    ).pending;
    const { url } = await startDurable(crashed(path), { app: asking, limits: FAST });
    const answer = { sessionId: 'main', callId: question!.callId, output: 'red' };
    const early = post(`${url}/tool-response`, answer);
    const state = foldOf(await eventsUntil(url, endOf(runId)));
    expect(state.messages.at(-1)!.stopReason).to.equal('lost');
    for (const { status } of [await early, await post(`${url}/tool-response`, answer)])
      expect(status).to.be.oneOf([404, 409]);
  });
});
