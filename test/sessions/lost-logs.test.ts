import { expect } from 'chai';
import { defineApp, memoryStore, type Store, StoreError } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';

describe('a log that its store has lost the end of', () => {
  it('is taken up again, and who waits for its run is told what is stored', async () => {
    const inner = memoryStore();
    let isLost = false;
    const store = new Proxy(inner, {
      get(target, name) {
        if (name === 'append')
          return (...args: Parameters<Store['append']>) => {
            if (isLost) throw new StoreError('ROLLED_BACK', 'A batch is missing');
            return target.append(...args);
          };
        const member = target[name as keyof Store];
        return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
      },
    });
    const word = gate<string>();
    const app = defineApp({
      async *run({ text }) {
        yield 'before ';
        if (text === 'wait') yield await word.passed;
      },
    });
    const { url, gateway } = await startGateway({ app, store });
    const events = (from: string) => openStream(`${url}/events?sessionId=main&from=${from}&token=${TOKEN}`);
    const stream = await events('earliest');
    let told: unknown;
    const waiting = fetch(`${url}/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify({ sessionId: 'main', message: 'wait' }),
    }).then(async (response) => {
      told = await response.json();
    });
    await stream.until(({ event }) => event === 'content_delta');
    isLost = true;
    word.open('after');
    // Its readers are sent away, to come back and resume.
    await stream.ended;
    expect(told, 'nobody knows yet').to.equal(undefined);
    isLost = false;
    await waiting;
    expect(told).to.include({ stopReason: 'lost' });
    const { body } = await get(`${url}/history?sessionId=main`);
    expect(body.messages.at(-1)).to.include({ stopReason: 'lost' });
    expect(body.messages.at(-1).content).to.deep.equal([{ type: 'text', text: 'before ' }]);
    expect((await gateway.session('main').status()).status).to.equal('idle');
    expect((await post(`${url}/send`, { sessionId: 'main', message: 'x' })).body.stopReason).to.equal('end');
  });
});
