import { type IncomingMessage, get as request } from 'node:http';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';

const turn = (): Promise<void> => new Promise(setImmediate);

describe('a reader that does not keep up', () => {
  it('is not charged with the time in which the gateway itself stood still', async () => {
    const app = defineApp({
      async *run() {
        for (let i = 0; i < 400; i++) yield 'x'.repeat(64 * 1024);
        yield 'the end';
      },
    });
    const limits = { slowClientMs: 500, answerSize: 64 * 1024 * 1024 };
    const { gateway, url } = await startGateway({ app, limits });
    const response = await new Promise<IncomingMessage>((resolve) =>
      request(`${url}/events?sessionId=main&from=now&token=${TOKEN}`, resolve),
    );
    closeLater(response, (it) => it.destroy());
    response.pause();
    void post(`${url}/send`, { sessionId: 'main', message: 'x' }, { prefer: 'respond-async' });
    while (gateway.stats().connections.blocked === 0) await turn();
    // A long collection of garbage, a laptop's lid: nobody could have taken anything.
    for (const until = performance.now() + 1500; performance.now() < until; );
    let text = '';
    const over = new Promise<void>((resolve, reject) => {
      response.on('close', () => reject(new Error('cut off')));
      response.on('data', (chunk: Buffer) => {
        text = (text + chunk.toString('latin1')).slice(-200);
        if (text.includes('the end')) resolve();
      });
    });
    response.resume();
    await over;
    expect(text).to.include('the end');
  });
});
