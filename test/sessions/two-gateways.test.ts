import { expect } from 'chai';
import { defineApp, type Gateway, type Store } from '../../server/index.js';
import { type Gate, gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { openStream, type RawStream } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';

const respondAsync = { prefer: 'respond-async' };

const read = (url: string, query = 'from=earliest', headers = {}): Promise<RawStream> =>
  openStream(`${url}/events?sessionId=main&token=${TOKEN}&${query}`, { headers });
const text = (stream: RawStream): string =>
  stream.logged.map(({ event, data }) => (event === 'content_delta' ? data.delta : '')).join('');

/** Two gateways on one store; what the app says is said by the test. */
async function setUp(store: Store) {
  const words: Gate<string>[] = [gate(), gate(), gate()];
  const app = defineApp({
    async *run() {
      for (const word of words) {
        const said = await word.passed;
        if (said === '') return;
        yield said;
      }
    },
  });
  const start = async (): Promise<{ gateway: Gateway<any, any, any>; url: string }> =>
    startGateway({ app, store, limits: { drainMs: 0 } });
  const [a, b] = [await start(), await start()];
  const term = async (): Promise<number> => {
    const { body } = await get(`${a.url}/status?sessionId=main`);
    return Number(body.cursor.split('.')[1]);
  };
  return { a, b, words, term };
}

/** The same in the middle of a run at the first, with a reader at either. */
async function readFrom(at: 'a' | 'b', store: Store) {
  const both = await setUp(store);
  await post(`${both.a.url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
  const stream = await read(both[at].url);
  both.words[0]!.open('one ');
  await stream.until(({ event }) => event === 'content_delta');
  return { ...both, stream };
}

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`a session that another gateway on the store holds (${name})`, () => {
    it('is read without being taken: its run goes on, and its events arrive as they come', async () => {
      const { a, b, words, term } = await setUp(make());
      const sent = await post(`${a.url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
      const before = await term();
      const [here, there] = [await read(a.url), await read(b.url)];
      const { body: status } = await get(`${b.url}/status?sessionId=main`);
      expect(status).to.include({ status: 'running', runId: sent.body.runId });
      words[0]!.open('one ');
      await there.until(({ event }) => event === 'content_delta');
      expect((await get(`${b.url}/history?sessionId=main`)).body.messages).to.have.length(1);
      const { body: list } = await get(`${b.url}/sessions`);
      expect(list.sessions[0]).to.include({ sessionId: 'main', status: 'running' });
      const late = await read(b.url, 'from=snapshot');
      const { data } = await late.until(({ event }) => event === 'snapshot');
      expect(data.state.run.message.content).to.deep.equal([{ type: 'text', text: 'one ' }]);
      words[1]!.open('two');
      words[2]!.open('');
      for (const stream of [here, there, late]) await stream.until(({ event }) => event === 'message_end');
      expect(there.logged).to.deep.equal(here.logged);
      expect(text(there)).to.equal('one two');
      expect(await term(), 'nobody has taken it').to.equal(before);
      expect((await get(`${b.url}/status?sessionId=main`)).body.status).to.equal('idle');
      expect((await get(`${b.url}/history?sessionId=main`)).body.messages).to.have.length(2);
    });

    it('is resumed there at a place that the other had not heard of', async () => {
      const { a, b, words } = await setUp(make());
      await post(`${a.url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
      const [here, there] = [await read(a.url), await read(b.url, 'from=now')];
      words[0]!.open('one ');
      const { id } = await here.until(({ event }) => event === 'content_delta');
      const moved = await read(b.url, '', { 'last-event-id': id! });
      const { data } = await moved.until(({ event }) => event === 'connected');
      expect(data.sessions.main).to.include({ resume: 'exact', cursor: id });
      words[1]!.open('two');
      words[2]!.open('');
      await moved.until(({ event }) => event === 'message_end');
      await there.until(({ event }) => event === 'message_end');
      expect(text(moved)).to.equal('two');
    });

    it('is folded there anew where it was cut meanwhile', async () => {
      const app = defineApp({ run: (turn) => `re: ${turn.text}` });
      const store = make();
      const limits = { drainMs: 0, retention: { events: 6 }, sendsPerSecond: Number.POSITIVE_INFINITY };
      const [a, b] = [await startGateway({ app, store, limits }), await startGateway({ app, store, limits })];
      const send = (n: number) => post(`${a.url}/send`, { sessionId: 'main', message: `m${n}` });
      const history = async (url: string) =>
        (await get(`${url}/history?sessionId=main&limit=100`)).body.messages;
      await send(0);
      expect(await history(b.url)).to.deep.equal(await history(a.url));
      const before = (await get(`${b.url}/status?sessionId=main`)).body.first;
      for (let n = 1; n <= 12; n++) await send(n);
      expect((await get(`${b.url}/status?sessionId=main`)).body.first).to.be.greaterThan(before);
      expect(await history(b.url))
        .to.deep.equal(await history(a.url))
        .and.to.have.length(26);
      const stream = await read(b.url, 'from=snapshot');
      const { data } = await stream.until(({ event }) => event === 'snapshot');
      expect(data.state.messages).to.deep.equal(await history(a.url));
    });

    it('goes over to whoever works on it: those who follow it on the other go on without a gap', async () => {
      const { b, words, stream } = await readFrom('a', make());
      const second = await post(`${b.url}/send`, { sessionId: 'main', message: 'y' }, respondAsync);
      // The first is ended as lost by who took the session.
      const lost = await stream.until(({ event }) => event === 'message_end');
      expect(lost.data.stopReason).to.equal('lost');
      words[1]!.open('');
      await stream.until(({ event, data }) => event === 'message_end' && data.runId === second.body.runId);
      expect(stream.events.filter(({ event }) => event === 'gap')).to.deep.equal([]);
      const seqs = stream.logged.map(({ id }) => Number(id!.split('.')[2]));
      expect(seqs).to.deep.equal(seqs.map((_, at) => at + 1));
    });

    it('is closed and begun anew there: those who follow it here are led through', async () => {
      const { a, stream } = await readFrom('b', make());
      expect((await post(`${a.url}/close`, { sessionId: 'main' })).status).to.equal(200);
      await post(`${a.url}/send`, { sessionId: 'main', message: 'again' }, respondAsync);
      await stream.until(({ event, data }) => event === 'gap' && data.reason === 'epoch');
      await stream.until(({ data }) => data.message?.content[0]?.text === 'again');
      const types = stream.events.map(({ event }) => event);
      expect(types.indexOf('session_closed')).to.be.within(1, types.indexOf('gap'));
    });
  });

  describe(`a session that nobody works on (${name})`, () => {
    it('is read and followed without a new term', async () => {
      const store = make();
      const app = defineApp({ run: (turn) => `re: ${turn.text}` });
      const first = await startGateway({ app, store });
      await post(`${first.url}/send`, { sessionId: 'main', message: 'x' });
      const { term } = (await store.head({ scope: '', app: 'default', name: 'main' })) ?? {};
      const second = await startGateway({ app, store });
      const stream = await read(second.url);
      await stream.until(({ event }) => event === 'message_end');
      await get(`${second.url}/history?sessionId=main`);
      await get(`${second.url}/status?sessionId=main`);
      const head = await store.head({ scope: '', app: 'default', name: 'main' });
      expect(head?.term ?? 'none').to.equal(term ?? 'none');
    });
  });
}
