import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { newTestEpoch, TestWriter } from '../../testing/stores/records.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';
import { waiting } from './prompted-app.js';

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`a message sent again whose acceptance was cut (${name})`, () => {
    it('is answered with that message, at once while its run goes on', async () => {
      const { app, word, began } = waiting();
      const { url } = await startGateway({ app, store: make(), limits: { retention: { events: 1 } } });
      const body = { sessionId: 'main', message: 'x', idempotencyKey: 'k' };
      const first = await post(`${url}/send`, body, { prefer: 'respond-async' });
      await began.passed;
      for (let i = 0; i < 5; i++)
        await post(`${url}/channel`, { sessionId: 'main', channel: 'news', payload: i });
      const again = async () => (await post(`${url}/send`, body, { prefer: 'respond-async' })).body;
      const { runId, message } = first.body;
      expect(await again()).to.deep.include({ runId, message });
      word.open('done');
      const { body: result } = await post(`${url}/send`, body);
      expect(result).to.deep.include({ runId, stopReason: 'end' });
      expect(await again()).to.deep.include({ runId, message });
    });
  });

  describe(`a session whose gateway was killed when it had begun with messages (${name})`, () => {
    it('shows them to who reads it from its beginning', async () => {
      const store = make();
      await store.open();
      closeLater(store, (it) => it.close());
      const ref = { scope: '[null,"token"]', app: 'default', name: 'main' };
      const message = { id: 'm1', role: 'user', content: [], createdAt: 1, parentId: null } as const;
      const writer = await TestWriter.acquire(store, ref, {
        epoch: newTestEpoch(),
        from: { messages: [message] },
      });
      await store.release(ref, writer.term);
      const { url } = await startGateway({ app: defineApp({ run: () => 'hi' }), store });
      const stream = await openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
      const { data } = await stream.until(({ event }) => event === 'snapshot');
      expect(data.state.messages).to.deep.equal([message]);
      await post(`${url}/send`, { sessionId: 'main', message: 'x' });
      const told = await stream.until(({ event }) => event === 'history_moved');
      expect(told.data).to.deep.include({ tip: 'm1', messages: [message] });
      stream.close();
    });
  });
}
