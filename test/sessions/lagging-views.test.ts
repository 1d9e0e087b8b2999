import { expect } from 'chai';
import { defineApp, memoryStore, type Store } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { openStream, type RawStream } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';

/** The same store, to a gateway that hears of nothing that others write. */
const deaf = (store: Store): Store => overriding(store, { watch: () => () => {} });

const app = defineApp({ run: (turn) => `re: ${turn.text}` });
const send = (url: string, message: string) => post(`${url}/send`, { sessionId: 'main', message });
const termOf = (cursor: string): number => Number(cursor.split('.')[1]);
const read = (url: string, id: string): Promise<RawStream> =>
  openStream(`${url}/events?sessionId=main&token=${TOKEN}`, { headers: { 'last-event-id': id } });

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`a gateway that has not heard what another one wrote (${name})`, () => {
    /** One that writes, and one that has looked at the session, follows it and hears no more of it. */
    async function setUp() {
      const store = make();
      const limits = { drainMs: 0 };
      const writer = await startGateway({ app, store, limits });
      const first = await send(writer.url, 'first');
      const reader = await startGateway({ app, store: deaf(store), limits });
      await (await read(reader.url, first.body.cursor)).until(({ event }) => event === 'connected');
      return { store, writer, reader, limits, before: first.body.cursor as string };
    }

    /** Resumes at a place where something follows, and says how it was answered. */
    async function resume(url: string, cursor: string, rest: string) {
      const stream = await read(url, cursor);
      const { data } = await stream.until(({ event }) => event === 'connected');
      await stream.until(
        ({ event, data: { delta } }) => event === 'content_delta' && delta === `re: ${rest}`,
      );
      const gaps = stream.events.filter(({ event }) => event === 'gap');
      expect(gaps).to.deep.equal([]);
      return data.sessions.main.resume;
    }

    it('tells of no place that it is ahead', async () => {
      const { writer, reader } = await setUp();
      const { body } = await send(writer.url, 'second');
      await send(writer.url, 'third');
      expect(await resume(reader.url, body.cursor, 'third')).to.equal('exact');
    });

    it('takes no log that began meanwhile for a foreign one', async () => {
      const { writer, reader } = await setUp();
      await post(`${writer.url}/close`, { sessionId: 'main' });
      const { body } = await send(writer.url, 'second');
      await send(writer.url, 'third');
      expect(await resume(reader.url, body.cursor, 'third')).to.equal('exact');
    });

    it('takes no place of a later writer for a lost one', async () => {
      const { store, reader, limits, before } = await setUp();
      const other = await startGateway({ app, store, limits });
      const { body } = await send(other.url, 'second');
      await send(other.url, 'third');
      expect(termOf(body.cursor), 'another writer').to.be.greaterThan(termOf(before));
      expect(await resume(reader.url, body.cursor, 'third')).to.equal('exact');
    });

    it('shows nothing of before: history, status and the list are as stored', async () => {
      const { writer, reader } = await setUp();
      await send(writer.url, 'second');
      for (const what of ['history?sessionId=main&limit=10', 'status?sessionId=main', 'sessions'])
        expect((await get(`${reader.url}/${what}`)).body, what).to.deep.equal(
          (await get(`${writer.url}/${what}`)).body,
        );
    });
  });
}

describe('a gateway whose store does not show for a moment what it has', () => {
  it('shows it afterwards to whoever asks', async () => {
    const store = memoryStore();
    const writer = await startGateway({ app, store });
    const first = await send(writer.url, 'first');
    await send(writer.url, 'second');
    const asked = gate();
    let isLacking = true;
    const lacking = overriding(store, {
      read: (...given) => {
        if (!isLacking) return store.read(...given);
        asked.open();
        return [];
      },
    });
    const reader = await startGateway({ app, store: lacking });
    const stream = await read(reader.url, first.body.cursor);
    await asked.passed;
    isLacking = false;
    const history = await get(`${reader.url}/history?sessionId=main`);
    expect(history.status, JSON.stringify(history.body)).to.equal(200);
    expect(history.body).to.deep.equal((await get(`${writer.url}/history?sessionId=main`)).body);
    stream.close();
  });
});

describe('a gateway with a given id', () => {
  it('is not taken for the one that had it before', async () => {
    const inner = memoryStore();
    const holders: string[] = [];
    const store = overriding(inner, {
      acquire(ref, options) {
        holders.push(options.holder);
        return inner.acquire(ref, options);
      },
    });
    for (const message of ['one', 'two']) {
      const { url, gateway } = await startGateway({ app, store, id: 'fixed' });
      await send(url, message);
      await gateway.close();
    }
    expect(new Set(holders).size).to.equal(2);
    for (const holder of holders) expect(holder).to.match(/^fixed\./);
  });
});
