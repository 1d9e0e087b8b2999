import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { until } from '../support/until.js';
import { open, start } from './socket-plugin.js';

describe('WebSockets of plugins', () => {
  it('of slow readers are closed, and hold up nobody', async () => {
    const word = 'x'.repeat(100_000);
    const app = defineApp({
      async *run() {
        for (let n = 0; n < 120; n++) {
          yield word;
          await new Promise(setImmediate);
        }
      },
    });
    const { url, ends } = await start({ app, limits: { slowClientMs: 300, answerSize: 1e9 } });
    const slow = await open(url);
    slow.pause();
    slow.send('run');
    const reading = await open(url, 'bob');
    reading.send('run');
    await until(() => ends.length === 2);
    expect(ends.filter((end) => end === 'over')).to.have.length(1);
    slow.resume();
    await slow.closed;
  });
});
