import { expect } from 'chai';
import { wordedApp } from '../support/apps.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';

describe('a reader that comes in the middle of an answer', () => {
  it('is told whose deltas they are, beside one that knows', async () => {
    const { app, words } = wordedApp();
    const { url } = await startGateway({ app });
    const read = (from: string) => openStream(`${url}/events?sessionId=main&from=${from}&token=${TOKEN}`);
    const early = await read('earliest');
    const { body } = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'x' },
      { prefer: 'respond-async' },
    );
    words[0]!.open('one');
    await early.until(({ event }) => event === 'content_delta');
    const late = await read('now');
    await late.until(({ event }) => event === 'connected');
    words[1]!.open('two');
    const { data } = await late.until(({ event }) => event === 'content_delta');
    expect(data).to.include({ sessionId: 'main', runId: body.runId, index: 0, delta: 'two' });
  });
});
