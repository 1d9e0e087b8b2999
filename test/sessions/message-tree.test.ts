import { expect } from 'chai';
import { defineApp, memoryStore, type Store } from '../../server/index.js';
import { messageOf, placed } from '../../server/log/message-places.js';
import type { SessionState } from '../../shared/fold.js';
import { initialState, reduce } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { message, newTestEpoch, record, TestWriter } from '../../testing/stores/records.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { refusingStore } from '../support/refusing-store.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { ENGINES_AND_LATE, testStore } from '../support/test-store.js';

const range = (count: number): string[] => Array.from({ length: count }, (_, i) => `m${i}`);
/** Messages that follow one another, without places. */
const chain = (ids: readonly string[], after: string | null = null): Message[] =>
  ids.map((id, i) => messageOf(message(id, ids[i - 1] ?? after)));
const idsOf = (messages: readonly Message[]): string[] => messages.map(({ id }) => id);
const refused = ({ status, body }: { status: number; body: any }) => [status, body.error?.code];

/** Begins the session `main` with messages, of which the last one is shown, and opens a gateway on it. */
async function setUp(store: Store, messages: readonly Message[] = [], epoch = newTestEpoch()) {
  await store.open();
  closeLater(store, (it) => it.close());
  const ref = { scope: '[null,"token"]', app: 'default', name: 'main' };
  const writer = await TestWriter.acquire(store, ref, { epoch });
  if (messages.length > 0) {
    const rows = await placed({ storedPlace: () => null }, messages);
    const { id: tip, depth: messageCount } = rows.at(-1)!;
    const moved = { ts: 1, tip, messageCount, messages: messages.slice(-50) };
    const event = { ...record(1, 'history_moved'), runId: undefined, body: JSON.stringify(moved) };
    await writer.append([event], { messages: rows });
  }
  await store.release(ref, writer.term);
  const app = defineApp({ run: (turn) => `${turn.history.length} before ${turn.text}` });
  const open = () => startGateway({ app, store, limits: { retention: { events: 8 } } });
  const { url } = await open();
  return {
    epoch,
    open,
    send: (message: unknown, more = {}, base = url) =>
      post(`${base}/send`, { sessionId: 'main', message, ...more }),
    /** Sends a message, and waits no longer than until it is accepted. */
    accept: (message: unknown) =>
      post(`${url}/send`, { sessionId: 'main', message }, { prefer: 'respond-async' }),
    history: async (query = '', base = url) => get(`${base}/history?sessionId=main${query}`),
    snapshot: async (base = url): Promise<SessionState> => {
      const stream = await openStream(`${base}/events?sessionId=main&from=snapshot&token=${TOKEN}`);
      const { data } = await stream.until(({ event }) => event === 'snapshot');
      stream.close();
      return data.state;
    },
  };
}

for (const [name, make] of Object.entries(ENGINES_AND_LATE)) {
  describe(`the tree of messages (${name})`, () => {
    it('begins with the messages that a log was given, and goes on behind them', async () => {
      const given = chain(range(60));
      const { send, history, snapshot, open, epoch } = await setUp(make(), given);
      const state = await snapshot();
      expect(state).to.deep.include({ messages: given.slice(10), hasMore: true, tip: 'm59' });
      expect(state.cursor).to.match(new RegExp(`^${epoch}\\.\\d+\\.1$`));
      expect((await history('&limit=100')).body).to.deep.equal({
        messages: given,
        cursor: null,
        hasMore: false,
      });
      const { body } = await send({ id: 'mine', content: 'Hello' });
      expect(body.message.content[0].text).to.equal('60 before Hello');
      const expected = [
        ['m59', 'm58'],
        ['mine', 'm59'],
        [body.message.id, 'mine'],
      ];
      const last = async (base?: string) =>
        (await history('&limit=3', base)).body.messages.map(({ id, parentId }: Message) => [id, parentId]);
      expect(await last()).to.deep.equal(expected);
      // Beyond what is retained, and for another gateway that reads the store anew.
      for (let i = 0; i < 6; i++) await send(`${i}`);
      const whole = (await history('&limit=1000')).body.messages;
      expect(idsOf(whole).slice(0, 62)).to.deep.equal([...range(60), 'mine', body.message.id]);
      const { url } = await open();
      expect((await history('&limit=1000', url)).body.messages).to.deep.equal(whole);
      expect(await snapshot(url)).to.deep.equal(await snapshot());
      expect((await snapshot(url)).tip).to.equal(whole.at(-1).id);
    });

    it('refuses ids of messages that left memory, on the shown path or not, and takes others', async () => {
      const given = [...chain(['n1', 'n2'], 'm1'), ...chain(range(1100))];
      const { send, history } = await setUp(make(), given);
      const { body: first } = await send('Hello');
      for (const id of ['m0', 'm99', 'm100', 'm1099', first.message.id, 'n2']) {
        const taken = await send({ id, content: 'again' });
        expect(refused(taken), id).to.deep.equal([409, 'MESSAGE_EXISTS']);
        expect(taken.body.error.details).to.deep.equal({ messageId: id });
      }
      const several = { messages: [{ id: 'm3', content: 'a' }, 'b'], message: undefined };
      expect(refused(await send(undefined, several))).to.deep.equal([409, 'MESSAGE_EXISTS']);
      const key = { idempotencyKey: 'k' };
      const sent = await send({ id: 'fresh', content: 'x' }, key);
      expect(sent.status).to.equal(200);
      expect((await send({ id: 'fresh', content: 'x' }, key)).body, 'a retry').to.deep.equal(sent.body);
      const { messages } = (await history('&limit=4')).body;
      expect(messages.map(({ parentId }: Message) => parentId)).to.deep.equal([
        'm1099',
        ...idsOf(messages).slice(0, 3),
      ]);
    });

    it('is paged from any message, whatever its id looks like', async () => {
      const ids = ['a.b', 'ä/&?#=%', '😀', '.', '..', "'", ' ', 'x'.repeat(256)];
      const { send, history, epoch } = await setUp(make());
      for (const id of ids) expect((await send({ id, content: 'x' })).status, id).to.equal(200);
      const whole: Message[] = (await history('&limit=100')).body.messages;
      expect(idsOf(whole).filter((_, i) => i % 2 === 0)).to.deep.equal(ids);
      for (const [i, { id }] of whole.entries()) {
        const before = encodeURIComponent(`${epoch}.${id}`);
        const { body } = await history(`&limit=3&before=${before}`);
        const start = Math.max(0, i - 3);
        expect(body.messages).to.deep.equal(whole.slice(start, i));
        expect(body.cursor).to.equal(start > 0 ? `${epoch}.${whole[start]!.id}` : null);
      }
      for (const id of ['a\nb', '\u0000', '\ud800', '', 'x'.repeat(257)])
        expect(refused(await send({ id, content: 'x' })), JSON.stringify(id)).to.deep.equal([
          400,
          'INVALID_PARAMS',
        ]);
      for (const before of [`${epoch}.unknown`, `${epoch}.`, epoch, '.', ''])
        expect(refused(await history(`&before=${before}`)), before).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(refused(await history(`&before=${newTestEpoch()}.a`))).to.deep.equal([410, 'CURSOR_GONE']);
    });

    it('ends where the store has lost a message, and is not asked for more for ever', async () => {
      const { history, snapshot, epoch } = await setUp(make(), chain(['x', 'y'], 'lost'));
      expect((await history()).body).to.deep.include({ cursor: null, hasMore: false });
      expect((await snapshot()).messages).to.have.length(2);
      const { body } = await history('&limit=2');
      expect(body).to.deep.include({ cursor: `${epoch}.x`, hasMore: true });
      const rest = (await history(`&limit=2&before=${body.cursor}`)).body;
      expect(rest).to.deep.equal({ messages: [], cursor: null, hasMore: false });
    });

    it('is made by the gateway alone: nobody who sends says what a message follows', async () => {
      const { send } = await setUp(make(), chain(['m0']));
      const own = await send({ content: 'x', parentId: 'm0' });
      expect(refused(own)).to.deep.equal([400, 'INVALID_PARAMS']);
    });
  });
}

describe('the ids of messages that left memory', () => {
  it('are not taken for free where the store cannot be asked', async () => {
    const { store, outage } = refusingStore(memoryStore(), 'messages');
    const { send, accept, history } = await setUp(store, chain(range(1001)));
    expect((await send('Hello')).status).to.equal(200);
    outage.on = true;
    expect(refused(await send({ id: 'm0', content: 'x' }))).to.deep.equal([503, 'OVERLOADED']);
    // Its run waits for the store.
    expect((await accept('no id of its own')).status).to.equal(202);
    outage.on = false;
    expect(refused(await send({ id: 'm0', content: 'x' }))).to.deep.equal([409, 'MESSAGE_EXISTS']);
    expect((await history('&limit=1000')).body.messages).to.have.length(1000);
  });
});

describe('the events of a conversation', () => {
  it('say nothing of the tree, which their readers fold alike', async () => {
    const { store, eventsOf } = testStore();
    const { send, history } = await setUp(store);
    for (const text of ['one', 'two']) await send(text);
    const events = eventsOf('main');
    expect(JSON.stringify(events)).to.not.include('parentId');
    const { messages, tip } = events.reduce(reduce, initialState);
    expect((await history()).body.messages).to.deep.equal(messages);
    expect(tip).to.equal(messages.at(-1)!.id);
  });
});
