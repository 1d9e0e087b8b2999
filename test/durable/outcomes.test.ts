import { expect } from 'chai';
import { defineApp, GatewayError, type Message } from '../../server/index.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { get, post, TOKEN } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';

describe('a history after a restart', () => {
  it('still says how each answer ended, in the history and in a snapshot, also behind a cut', async () => {
    const path = newDatabase();
    const said = gate();
    const app = defineApp({
      async *run(turn) {
        if (turn.text === 'fail') throw new GatewayError({ code: 'UPSTREAM_FAILED' });
        if (turn.text === 'seen') {
          const seen = turn.history.map(({ content }) => content.length);
          return { text: seen.join(), usage: { inputTokens: 3 } };
        }
        yield 'half';
        said.open();
        await new Promise(() => {});
      },
    });
    const limits = { retention: { events: 4 } };
    const first = await startDurable(path, { app, limits });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'fail' });
    const cut = post(`${first.url}/send`, { sessionId: 'main', message: 'cut' });
    await said.passed;
    await post(`${first.url}/abort`, { sessionId: 'main' });
    await cut;
    await post(`${first.url}/send`, { sessionId: 'main', message: 'seen' });
    await first.gateway.close();

    const { url } = await startDurable(path, { app, limits });
    expect((await get(`${url}/status?sessionId=main`)).body.first).to.be.greaterThan(4);
    const { body } = await get(`${url}/history?sessionId=main`);
    const stream = await openStream(`${url}/events?sessionId=main&from=snapshot&token=${TOKEN}`);
    const { data } = await stream.until(({ event }) => event === 'snapshot');
    expect(data.state.messages).to.deep.equal(body.messages);
    const answers = body.messages.filter(({ role }: Message) => role === 'assistant');
    expect(answers.map(({ stopReason }: Message) => stopReason)).to.deep.equal(['error', 'aborted', 'end']);
    expect(answers[0]).to.deep.include({ content: [], app: 'default' });
    expect(answers[0].error.code).to.equal('UPSTREAM_FAILED');
    expect(answers[1].content).to.deep.equal([{ type: 'text', text: 'half' }]);
    // What failed without a word is not for the next turn.
    expect(answers[2].content).to.deep.equal([{ type: 'text', text: '1,1,1' }]);
    expect(answers[2].usage).to.deep.equal({ inputTokens: 3 });
    for (const { runId, endedAt, createdAt } of answers) {
      expect(runId).to.be.a('string');
      expect(endedAt).to.be.at.least(createdAt);
    }
  });
});
