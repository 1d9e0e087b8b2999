import { expect } from 'chai';
import { defineApp, memoryStore, type Store } from '../../server/index.js';
import { StoreError } from '../../server/stores/index.js';
import { ForgetfulMemory } from '../support/forgetful-memory.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { openStream } from '../support/sse-client.js';

type Append = Store['append'];

/** A gateway on a store whose appends the test decides about, and a message that waits for its answer there. */
async function setUp(append: (made: () => ReturnType<Append>) => ReturnType<Append>) {
  const inner = memoryStore();
  const store = overriding(inner, { append: (...args) => append(() => inner.append(...args)) });
  const word = gate<string>();
  const app = defineApp({
    async *run({ text }) {
      yield 'before ';
      if (text === 'wait') yield await word.passed;
    },
  });
  const { url, gateway } = await startGateway({ app, store });
  const stream = await openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
  const waiting = post(`${url}/send`, { sessionId: 'main', message: 'wait' });
  await stream.until(({ event }) => event === 'content_delta');
  return { url, gateway, word, stream, waiting };
}

describe('a log that is lost to its gateway with its store', () => {
  it('is taken up again, and who waits for its run is told what is stored', async () => {
    let isLost = false;
    const { url, gateway, word, stream, waiting } = await setUp((made) => {
      if (isLost) throw new StoreError('ROLLED_BACK', 'A batch is missing');
      return made();
    });
    let told: unknown;
    const answered = waiting.then(({ body }) => {
      told = body;
    });
    isLost = true;
    word.open('after');
    // Its readers are sent away, to come back and resume.
    await stream.ended;
    expect(told, 'nobody knows yet').to.equal(undefined);
    isLost = false;
    await answered;
    expect(told).to.include({ stopReason: 'lost' });
    const { body } = await get(`${url}/history?sessionId=main`);
    expect(body.messages.at(-1)).to.include({ stopReason: 'lost' });
    expect(body.messages.at(-1).content).to.deep.equal([{ type: 'text', text: 'before ' }]);
    expect((await gateway.session('main').status()).status).to.equal('idle');
    expect((await post(`${url}/send`, { sessionId: 'main', message: 'x' })).body.stopReason).to.equal('end');
  });

  it('tells of an end that was stored though the store said otherwise', async () => {
    let isBroken = false;
    const { word, waiting } = await setUp((made) => {
      const answer = made();
      if (isBroken) throw new Error('The connection was reset');
      return answer;
    });
    isBroken = true;
    word.open('');
    const { body } = await waiting;
    expect(body).to.include({ stopReason: 'end' });
    expect(body.message.content).to.deep.equal([{ type: 'text', text: 'before ' }]);
  });
});

describe('a run that a store forgets while a gateway reads its end', () => {
  it('is asked for again, and no run whose answer is no longer kept', async () => {
    const memory = new ForgetfulMemory();
    const app = defineApp({ run: () => 'answer' });
    const body = { sessionId: 'main', message: 'x', idempotencyKey: 'k' };
    const first = await startGateway({ app, store: memory.store });
    expect((await post(`${first.url}/send`, body)).body.stopReason).to.equal('end');
    let isForgetful = true;
    const second = await startGateway({
      app,
      store: overriding(memory.store, {
        read: (...given) => {
          if (isForgetful) memory.forget('main', 99);
          isForgetful = false;
          return memory.store.read(...given);
        },
      }),
    });
    const { status, body: told } = await post(`${second.url}/send`, body);
    expect([status, told.error?.code, told.error?.retryable]).to.deep.equal([503, 'OVERLOADED', true]);
    expect((await post(`${second.url}/send`, body)).body.stopReason).to.equal('end');
  });
});
