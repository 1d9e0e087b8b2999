import { expect } from 'chai';
import { channels } from '../../server/diagnostics/index.js';
import { memoryStore } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { echo } from '../support/apps.js';
import { newDatabase } from '../support/durable.js';
import { post, startGateway } from '../support/gateway.js';
import { hostileStore, listedFates } from '../support/hostile-store.js';
import { hear } from '../support/tracing.js';

const STORES = [
  { name: 'memory', make: memoryStore },
  { name: 'sqlite', make: () => sqliteStore({ path: newDatabase() }) },
];

describe('the channel of appends', () => {
  for (const { name, make } of STORES) {
    it(`tells of every batch that the ${name} store took`, async () => {
      const { gateway, url } = await startGateway({
        apps: { main: echo },
        defaultApp: 'main',
        store: make(),
      });
      const ear = hear(channels.append);
      const { body } = await post(`${url}/send`, { sessionId: 'main:one', message: 'é' });
      const [, , last] = body.cursor.split('.');
      await ear.over(({ result }) => result?.last === Number(last));
      const messages = ear.all.map(({ message }) => message);
      expect(messages.reduce((sum, { events }) => sum + events, 0)).to.equal(Number(last));
      for (const message of messages) {
        const { result, bytes, events } = message;
        expect(message).to.include({
          gatewayId: gateway.id,
          sessionId: 'one',
          app: 'main',
          runId: body.runId,
        });
        expect(message.epoch).to.equal(body.cursor.split('.')[0]);
        expect(result!.last - result!.first + 1).to.equal(events);
        expect(bytes).to.be.greaterThan(events * 2);
      }
    });
  }

  it('tells of each attempt, with the code of a store that refuses or says nothing', async () => {
    const { store } = hostileStore(memoryStore(), listedFates({ append: ['do', 'refuse', 'do', 'drop'] }));
    const { url } = await startGateway({ app: echo, store, limits: { storeMs: 50 } });
    const ear = hear(channels.append);
    await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    const refused = await ear.over(({ code }) => code === 'UNAVAILABLE');
    expect(refused.events).to.include('error');
    await ear.over(({ code }) => code === 'UNKNOWN');
    expect(ear.all.filter(({ message }) => message.result)).to.not.have.length(0);
  });
});
