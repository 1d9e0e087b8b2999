import { expect } from 'chai';
import { defineApp, memoryStore, type Store } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { connectClient } from '../support/client.js';
import { gate } from '../support/gate.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { openStream } from '../support/sse-client.js';

/** Answers each message once a person has answered it. */
const app = defineApp({
  resumable: true,
  async *run(turn) {
    yield `${await turn.ask({ name: 'answer' })}`;
  },
});

/** A store that gives up the first session when the test says so. @param done Whether that is done before, and only its answer is late */
function lateRelease({ done }: { readonly done: boolean }) {
  const [asked, passed] = [gate(), gate()];
  const inner = memoryStore();
  let count = 0;
  const release: Store['release'] = async (...given) => {
    const isFirst = ++count === 1;
    if (done || !isFirst) await inner.release(...given);
    if (!isFirst) return;
    asked.open();
    await passed.passed;
    if (!done) await inner.release(...given);
  };
  return { store: overriding(inner, { release }), asked: asked.passed, go: () => passed.open() };
}

describe('a session that is let go', () => {
  for (const done of [true, false])
    it(`is shown as it is where it is taken again before the store ${done ? 'answers' : 'has done so'}`, async () => {
      const { store, asked, go } = lateRelease({ done });
      const { url } = await startGateway({ app, store, limits: { parkMs: 20 } });
      const session = connectClient(url).session('main');
      await post(`${url}/send`, { sessionId: 'main', message: 'one' }, { prefer: 'respond-async' });
      await asked;
      const [question] = (await session.state()).pending;
      const stream = await openStream(`${url}/events?sessionId=main&token=${TOKEN}`);
      await session.respond(question!.callId, { output: 'yes' });
      go();
      await stream.until(({ event }) => event === 'message_end');
      const { run, messages, pending } = await connectClient(url).session('main').state();
      expect({ run, pending, texts: messages.map(textOf) }).to.deep.equal({
        ...{ run: null, pending: [] },
        texts: ['one', 'yes'],
      });
    });
});
