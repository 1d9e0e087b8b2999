import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { message, TestWriter } from '../../testing/stores/records.js';
import { get, post, startGateway } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
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

  describe(`a session whose gateway was killed before all its first messages were there (${name})`, () => {
    it('shows none of them, and gets them all if it is begun again', async () => {
      const store = make();
      await store.open();
      closeLater(store, (it) => it.close());
      const ref = { scope: '[null,"token"]', app: 'default', name: 'main' };
      const writer = await TestWriter.acquire(store, ref);
      const messages = ['m1', 'm2'].map((id) => ({ id, role: 'user', content: `text of ${id}` }));
      await writer.append([], { messages: [message('m1')] });
      await store.release(ref, writer.term);
      const { url } = await startGateway({
        app: defineApp({ run: () => 'hi' }),
        store,
        clientMessages: { import: true },
      });
      expect((await get(`${url}/history?sessionId=main`)).body.messages).to.deep.equal([]);
      // However often: the second time it is there.
      for (let times = 0; times < 2; times++) {
        const { body } = await post(`${url}/import`, { sessionId: 'main', messages });
        expect(body).to.deep.include({ tip: 'm2' });
        const { body: history } = await get(`${url}/history?sessionId=main`);
        expect(history.messages.map(({ id }: { id: string }) => id)).to.deep.equal(['m1', 'm2']);
      }
    });
  });
}
