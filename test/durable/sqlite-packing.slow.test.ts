import { statSync } from 'node:fs';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { jsonHeaders, post } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { open, pack } from './packed-store.js';

describe('the SQLite store, packing', () => {
  it('keeps 0.6 MB of text, said in 100,000 pieces, in two megabytes, and every piece at its place', async () => {
    const PIECES = 100_000;
    const app = defineApp({
      async *run() {
        for (let index = 0; index < PIECES; index++) yield ` ${String(index).padStart(5, '0')}`;
      },
    });
    const path = newDatabase();
    const limits = { retention: { events: 2 * PIECES } };
    const { url, gateway } = await startDurable(path, { app, limits });
    await post(`${url}/send`, { sessionId: 'main', message: 'go' });
    const live = await openStream(`${url}/events?sessionId=main&from=earliest`, {
      headers: jsonHeaders(),
    });
    await live.until(({ event }) => event === 'message_end');
    await gateway.close();
    const before = statSync(path).size;
    const store = await open(path);
    await pack(store);
    await store.close();
    expect(before).to.be.greaterThan(8e6);
    expect(statSync(path).size).to.be.lessThan(2e6);
    const second = await startDurable(path, { app, limits });
    const from = live.logged[51_234]!;
    const again = await openStream(`${second.url}/events?sessionId=main`, {
      headers: { ...jsonHeaders(), 'last-event-id': from.id! },
    });
    await again.until(({ event }) => event === 'message_end');
    expect(again.logged).to.deep.equal(live.logged.slice(51_235));
  });
});
