import { expect } from 'chai';
import { defineApp, type Store, tool } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { refusingStore } from '../support/refusing-store.js';
import { openStream } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';

const respondAsync = { prefer: 'respond-async' };

/** A store that can be made to refuse writes. */
const failing = (inner: Store) => refusingStore(inner, 'append', 'acquire', 'cut');

/** Resolves once the store has refused so many writes. */
async function refusals(outage: { readonly refused: number }, count: number): Promise<void> {
  const { refused } = outage;
  while (outage.refused < refused + count) await new Promise(setImmediate);
}

const endless = defineApp({
  async *run() {
    yield 'x';
    await new Promise(() => {});
  },
});

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`a store that cannot be written for a while (${name})`, () => {
    it('delivers nothing that it does not have, and a run goes on where it was once it can', async () => {
      const { store, outage } = failing(make());
      const more = gate();
      let produced = 0;
      const app = defineApp({
        async *run() {
          yield 'before ';
          await more.passed;
          for (let i = 0; i < 100; i++) {
            produced += 1;
            yield `${i} `;
            await new Promise(setImmediate);
          }
        },
      });
      const { url, gateway } = await startGateway({ app, store });
      const reported = gate();
      gateway.on('error', () => reported.open());
      await post(`${url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
      const stream = await openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
      await stream.until(({ event }) => event === 'content_delta');
      outage.on = true;
      more.open();
      await reported.passed;
      const seen = stream.logged.length;

      const send = { sessionId: 'main', message: 'y', idempotencyKey: 'k' };
      const refused = await post(`${url}/send`, send, respondAsync);
      expect(refused.status).to.equal(503);
      expect(refused.body.error).to.include({ code: 'OVERLOADED', retryable: true });
      expect(refused.headers.get('retry-after')).to.equal('1');
      expect((await post(`${url}/channel`, { sessionId: 'main', channel: 'c', payload: 1 })).status).to.equal(
        503,
      );
      expect(
        (await post(`${url}/send`, { sessionId: 'new', message: 'y' })).status,
        'a session that is not here',
      ).to.equal(503);
      const status = await get(`${url}/status?sessionId=main`);
      expect(status.body).to.include({ status: 'running', queued: 0 });
      expect((await get(`${url}/history?sessionId=main`)).status).to.equal(200);
      expect(produced, 'the app waits').to.be.lessThan(10);
      expect(stream.logged).to.have.length(seen);

      outage.on = false;
      const { data: end } = await stream.until(({ event }) => event === 'message_end');
      const numbers = Array.from({ length: 100 }, (_, i) => `${i} `).join('');
      expect(end).to.include({ stopReason: 'end' });
      expect(end.message.content).to.deep.equal([{ type: 'text', text: `before ${numbers}` }]);
      expect(stream.logged.map(({ id }) => Number(id!.split('.')[2]))).to.deep.equal(
        stream.logged.map((_, i) => i + 1),
      );
      expect((await post(`${url}/send`, send, respondAsync)).status, 'the key was not used up').to.equal(202);
      expect(stream.logged.filter(({ event }) => event === 'channel')).to.deep.equal([]);
    });

    it('refuses an answer that it cannot keep, and the question stays open', async () => {
      const { store, outage } = failing(make());
      const app = defineApp({
        tools: { act: tool({ confirm: true, handler: () => 'done' }) },
        run: (turn) => turn.callTool('act', {}) as Promise<string>,
      });
      const { url } = await startGateway({ app, store });
      await post(`${url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
      const stream = await openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
      const { data } = await stream.until(({ event }) => event === 'tool_confirmation_required');
      const answer = { sessionId: 'main', callId: data.callId, approved: true };
      outage.on = true;
      expect((await post(`${url}/tool-response`, answer)).status).to.equal(503);
      outage.on = false;
      expect((await post(`${url}/tool-response`, answer)).status).to.equal(200);
      await stream.until(({ event }) => event === 'message_end');
    });

    it('ends runs that are aborted meanwhile once, when it can', async () => {
      const { store, outage } = failing(make());
      const { url } = await startGateway({ app: endless, store });
      await post(`${url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
      const stream = await openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
      await stream.until(({ event }) => event === 'content_delta');
      outage.on = true;
      const aborting = post(`${url}/abort`, { sessionId: 'main' });
      await refusals(outage, 1);
      expect((await get(`${url}/status?sessionId=main`)).body.status, 'what the log says').to.equal(
        'running',
      );
      expect((await post(`${url}/close`, { sessionId: 'main' })).status, 'a close').to.equal(503);
      outage.on = false;
      expect((await aborting).body, 'answered once it is stored').to.deep.equal({ aborted: true });
      const { data } = await stream.until(({ event }) => event === 'message_end');
      expect(data.stopReason).to.equal('aborted');
      expect((await post(`${url}/close`, { sessionId: 'main' })).status).to.equal(200);
      await stream.until(({ event }) => event === 'session_closed');
      expect(stream.logged.filter(({ event }) => event === 'message_end')).to.have.length(1);
    });

    it('does not keep the gateway from closing', async () => {
      const { store, outage } = failing(make());
      const { url, gateway } = await startGateway({ app: endless, store, limits: { drainMs: 1 } });
      await post(`${url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
      outage.on = true;
      await gateway.close();
      expect(outage.refused).to.be.greaterThan(0);
    });
  });
}
