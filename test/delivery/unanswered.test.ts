import { expect } from 'chai';
import { memoryStore } from '../../server/index.js';
import { wordedApp } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { openStream } from '../support/sse-client.js';

describe('what the store has written and not answered yet', () => {
  it('is read by nobody, and no gap to whoever comes back', async () => {
    const { app, words } = wordedApp();
    let isSlow = false;
    const written = gate();
    const answered = gate();
    const inner = memoryStore();
    const store = overriding(inner, {
      append(...args) {
        const answer = inner.append(...args);
        if (!isSlow) return answer;
        written.open();
        return answered.passed.then(() => answer);
      },
    });
    const { url } = await startGateway({ app, store });
    const read = () => openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
    await post(`${url}/send`, { sessionId: 'main', message: 'x' }, { prefer: 'respond-async' });
    const early = await read();
    words[0]!.open('one');
    await early.until(({ event }) => event === 'content_delta');
    isSlow = true;
    words[1]!.open('two');
    await written.passed;
    const late = await read();
    const { id } = await late.until(({ event }) => event === 'content_delta');
    expect(late.logged.map(({ data }) => data.delta)).not.to.include('two');
    const { body } = await get(`${url}/status?sessionId=main`);
    expect(body.cursor).to.equal(id);
    isSlow = false;
    answered.open();
    for (const stream of [early, late]) await stream.until(({ event }) => event === 'message_end');
    expect(late.logged.map(({ id }) => id)).to.deep.equal(early.logged.map(({ id }) => id));
  });
});
