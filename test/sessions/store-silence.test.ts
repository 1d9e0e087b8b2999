import { expect } from 'chai';
import { defineApp, memoryStore, type RunResult, type Store } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { embedGateway } from '../support/embedded.js';
import { heldStore } from '../support/held-store.js';
import { hostileStore, listedFates } from '../support/hostile-store.js';
import { overriding } from '../support/overriding.js';
import { refusingStore } from '../support/refusing-store.js';
import { testStore } from '../support/test-store.js';
import { until } from '../support/until.js';

const endless = defineApp({
  async *run() {
    yield 'x';
    await new Promise(() => {});
  },
});

const reasonOf = (result: Promise<RunResult>): Promise<string> =>
  result.then(
    ({ stopReason }) => stopReason,
    (error) => `rejected ${error.code}`,
  );

describe('closing a gateway settles every result', () => {
  it('as over here where the store refuses every write, since it does not say how they ended', async () => {
    const { store, outage } = refusingStore(memoryStore(), 'append');
    const gateway = embedGateway({ app: endless, store, limits: { drainMs: 20, storeMs: 100 } });
    const session = gateway.session('main');
    const runs = [session.send('a'), session.send('b')];
    for (const run of runs) await run.accepted;
    outage.on = true;
    await gateway.close();
    for (const run of runs) expect(await reasonOf(run.result)).to.equal('rejected SHUTTING_DOWN');
  });

  it('as over here where the store does not answer any more, and closes within storeMs of its drain', async () => {
    const held = heldStore(memoryStore());
    const gateway = embedGateway({ app: endless, store: held.store, limits: { drainMs: 20, storeMs: 100 } });
    const session = gateway.session('main');
    const runs = [session.send('a'), session.send('b')];
    for (const run of runs) await run.accepted;
    void held.hold();
    await gateway.close();
    for (const run of runs) expect(await reasonOf(run.result)).to.equal('rejected SHUTTING_DOWN');
  });

  it('and tells those who wait for a message that the next process answers to come back', async () => {
    const store: Store = sqliteStore({ path: newDatabase() });
    const gateway = embedGateway({ app: endless, store, limits: { drainMs: 20 } });
    const session = gateway.session('main');
    const active = session.send('a');
    const queued = session.send('b');
    await Promise.all([active.accepted, queued.accepted]);
    await gateway.close();
    expect(await reasonOf(active.result)).to.equal('lost');
    expect(await reasonOf(queued.result)).to.equal('rejected SHUTTING_DOWN');
  });
});

describe('a store that does not answer', () => {
  it('is waited for no longer than storeMs, and what a send came to is said to be unknown only where it is', async () => {
    const app = defineApp({ run: () => 'x' });
    const model = testStore();
    const hung = overriding(model.store, { acquire: () => new Promise(() => {}) });
    const session = embedGateway({ app, store: hung, limits: { storeMs: 40 } }).session('main');
    const error = await session.send('x').accepted.catch((thrown) => thrown);
    expect(error).to.include({ code: 'OVERLOADED', retryable: true });
    expect(error.details).to.equal(undefined);
  });

  it('has a batch of which it lost the answer tried again, and in the log once', async () => {
    const model = testStore();
    const hostile = hostileStore(
      model.store,
      listedFates({ append: ['lose', 'drop', 'lose', 'do', 'lose'] }),
    );
    const app = defineApp({
      async *run(turn) {
        yield turn.text;
      },
    });
    const session = embedGateway({ app, store: hostile.store }).session('main');
    for (const text of ['a', 'b']) expect((await session.send(text).result).stopReason).to.equal('end');
    expect(model.eventsOf('main').map(({ type }) => type)).to.deep.equal([
      ...['message_accepted', 'message_start', 'content_delta', 'message_end'],
      ...['message_accepted', 'message_start', 'content_delta', 'message_end'],
    ]);
  });
});

describe('callers of a store whose writes stay unknown', () => {
  const limits = { storeMs: 100 };

  /** A store that loses the answers to appends until it relents, without making them. */
  function losing() {
    const model = testStore();
    let loses = false;
    const hostile = hostileStore(model.store, (method) => (loses && method === 'append' ? 'drop' : 'do'));
    const lose = (): void => {
      loses = true;
    };
    return { model, lose, ...hostile };
  }

  const unknown = { code: 'OVERLOADED', details: { outcome: 'unknown' } };
  const told = async (work: Promise<unknown>) => {
    const { code, details } = await work.then(
      () => ({ code: 'done', details: undefined }),
      (error) => error,
    );
    return { code, details };
  };

  /** Does it again where a busy machine was slower than `storeMs`. */
  const insisted = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      const done = await work().catch((error: { code?: string }) => {
        if (error.code !== 'OVERLOADED') throw error;
        return null;
      });
      if (done !== null) return done;
    }
  };

  it('are answered within storeMs, and a send goes on behind them, once', async () => {
    const { model, store, lose, relent } = losing();
    const session = embedGateway({ app: defineApp({ run: (turn) => turn.text }), store, limits }).session(
      'main',
    );
    await insisted(() => session.send('first', { idempotencyKey: 'zero' }).result);
    lose();
    const send = { idempotencyKey: 'one' };
    expect(await told(session.send('second', send).accepted), 'the first time').to.deep.equal(unknown);
    expect(await told(session.send('second', send).accepted), 'with the same key').to.deep.equal(unknown);
    relent();
    const { message } = await insisted(() => session.send('second', send).result);
    expect(message.content).to.deep.equal([{ type: 'text', text: 'second' }]);
    const texts = model.eventsOf('main').filter(({ type }) => type === 'message_end');
    expect(texts).to.have.length(2);
  });

  it('of an abort, a close and a delete too, which then have been done', async () => {
    const does = async (work: 'abort' | 'close' | 'delete'): Promise<void> => {
      const { model, store, lose, relent } = losing();
      const session = embedGateway({ app: endless, store, limits }).session('main');
      await session.send('first').accepted;
      const wrote = (type: string) => () => model.eventsOf('main').some((event) => event.type === type);
      await until(wrote('content_delta'));
      lose();
      expect(await told(session[work]()), work).to.deep.equal(unknown);
      relent();
      await until(wrote(work === 'abort' ? 'message_end' : 'session_closed'));
    };
    // Each at a gateway of its own: all wait for their stores at once.
    await Promise.all([does('abort'), does('close'), does('delete')]);
  });
});

describe('a cut whose answer is lost', () => {
  it('is taken for made, and later ones go on from it', async () => {
    const model = testStore();
    const hostile = hostileStore(
      model.store,
      listedFates({ cut: ['lose', 'drop', 'lose', 'refuse', 'lose'] }),
    );
    const app = defineApp({ run: (turn) => turn.text });
    const limits = { retention: { events: 8 } };
    const gateway = embedGateway({ app, store: hostile.store, limits });
    const session = gateway.session('main');
    for (let i = 0; i < 20; i++) await session.send(`${i}`).result;
    expect([...hostile.met.keys()].filter((key) => key.startsWith('cut'))).to.have.length(4);
    const { first, head } = (await session.status()) as unknown as { first: number; head: number };
    expect(head - first, 'what is retained').to.be.lessThan(13);
    const { messages, hasMore } = await session.history({ limit: 1000 });
    expect(messages).to.have.length(40);
    expect(hasMore).to.equal(false);
  });
});
