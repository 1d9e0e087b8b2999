import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { openStream } from '../support/sse-client.js';

const read = (url: string, from: string) =>
  openStream(`${url}/events?sessionId=main&from=${from}&token=${TOKEN}`);

describe('a snapshot that takes its time', () => {
  it('is followed by what was said meanwhile', async () => {
    const words = [gate<string>(), gate<string>(), gate<string>()];
    const app = defineApp({
      async *run() {
        for (const word of words) yield await word.passed;
      },
    });
    const store = memoryStore();
    const asked = gate();
    const answered = gate();
    const slow = overriding(store, {
      async checkpoint(log) {
        asked.open();
        await answered.passed;
        return store.checkpoint(log);
      },
    });
    const limits = { drainMs: 0 };
    const { url: writer } = await startGateway({ app, store, limits });
    const { url: reader } = await startGateway({ app, store: slow, limits });
    await post(`${writer}/send`, { sessionId: 'main', message: 'x' }, { prefer: 'respond-async' });
    words[0]!.open('one ');
    // Keeps the reader's view of the log up to date.
    const other = await read(reader, 'earliest');
    await other.until(({ event }) => event === 'content_delta');
    const opening = read(reader, 'snapshot');
    await asked.passed;
    words[1]!.open('two ');
    await other.until(({ data }) => data?.delta === 'two ');
    answered.open();
    const stream = await opening;
    const { data } = await stream.until(({ event }) => event === 'snapshot');
    const shown = data.state.run.message.content.map(({ text }: { text: string }) => text).join('');
    words[2]!.open('three');
    await stream.until(({ event }) => event === 'message_end');
    const told = stream.logged.map(({ event, data }) => (event === 'content_delta' ? data.delta : ''));
    expect(shown + told.join('')).to.equal('one two three');
  });
});
