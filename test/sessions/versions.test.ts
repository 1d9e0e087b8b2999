import { once } from 'node:events';
import { expect } from 'chai';
import { defineApp, type Store } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { textOf } from '../../shared/messages.js';
import { echo } from '../support/apps.js';
import { connectClient, failure } from '../support/client.js';
import { newDatabase } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway } from '../support/gateway.js';
import { ENGINES_AND_LATE } from '../support/test-store.js';

const limits = { retention: { events: 8 }, sendsPerSecond: Infinity };

/** A gateway with a conversation that was edited in the middle: `q1`, `q2`, …, and `e1`, `e2`, … in the place of `q2`. */
async function edited(store: Store, count: number) {
  const { url, gateway } = await startGateway({ app: echo, store, limits });
  const session = connectClient(url).session('main');
  for (let n = 1; n <= count; n += 1) await session.send({ id: `q${n}`, content: `q${n}` }).result;
  await session.edit('q2', { id: 'e1', content: 'e1' }).result;
  for (let n = 2; n <= count; n += 1) await session.send({ id: `e${n}`, content: `e${n}` }).result;
  const shown = async () => {
    const { body } = await get(`${url}/history?sessionId=main&limit=1000`);
    return body.messages.filter(({ role }: any) => role === 'user').map(({ id }: any) => id);
  };
  return { url, gateway, session, shown };
}

const numbered = (letter: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `${letter}${from + at}`);

for (const [name, make] of Object.entries(ENGINES_AND_LATE)) {
  describe(`another version of a message (${name})`, () => {
    it('is gone on from as it was last, however long that is and whatever was cut', async () => {
      const { session, shown } = await edited(make(), 30);
      expect(await shown()).to.deep.equal(['q1', ...numbered('e', 1, 30)]);
      const { tip } = await session.move({ version: 'q2' });
      expect(await shown()).to.deep.equal(numbered('q', 1, 30));
      expect((await session.history({ limit: 1 })).messages[0]).to.include({ id: tip, parentId: 'q30' });
      await session.move({ version: 'e1' });
      expect(await shown()).to.deep.equal(['q1', ...numbered('e', 1, 30)]);
      // The one that was given last goes first.
      await session.move({ version: 'q2' });
      const { message } = await session.regenerate().result;
      await session.move({ version: 'e1' });
      expect(await session.move({ version: 'q2' })).to.have.property('tip', message.id);
    });

    it('is nowhere else than where it is shown already', async () => {
      const { session, shown } = await edited(make(), 3);
      const { cursor, tip } = await session.state();
      expect(await session.move({ version: 'e1' })).to.deep.equal({ tip, cursor });
      expect(await session.move({ version: 'q1' })).to.deep.equal({ tip, cursor });
      expect(await shown()).to.deep.equal(['q1', 'e1', 'e2', 'e3']);
      expect((await failure(session.move({ version: 'nowhere' }))).code).to.equal('MESSAGE_NOT_FOUND');
    });
  });
}

describe('another version of a message', () => {
  it('survives a restart', async () => {
    const path = newDatabase();
    const { gateway } = await edited(sqliteStore({ path }), 10);
    await gateway.close();
    const { url } = await startGateway({ app: echo, store: sqliteStore({ path }), limits });
    const session = connectClient(url).session('main');
    await session.move({ version: 'q2' });
    const { messages } = await session.history({ limit: 100 });
    expect(messages.map(textOf).filter((text) => text.startsWith('q'))).to.deep.equal(numbered('q', 1, 10));
  });

  it('ends what runs, and leaves alone what runs on it', async () => {
    const begun = gate();
    const app = defineApp({
      async *run(turn) {
        yield `Well, ${turn.text}`;
        if (turn.text !== 'wait') return;
        begun.open();
        await once(turn.signal, 'abort');
      },
    });
    const { url } = await startGateway({ app });
    const session = connectClient(url).session('main');
    const { message: first } = await session.send({ id: 'q1', content: 'one' }).result;
    const run = session.edit('q1', { id: 'q2', content: 'wait' });
    await begun.passed;
    const { run: active, cursor } = await session.state();
    const there = { tip: active!.message.id, cursor };
    expect(await session.move({ version: 'q2' })).to.deep.equal(there);
    expect(await session.move({ version: active!.message.id })).to.deep.equal(there);
    expect(await session.move({ version: 'q1' })).to.have.property('tip', first.id);
    expect((await run.result).stopReason).to.equal('superseded');
    await session.move({ version: 'q2' });
    const { messages } = await session.state();
    expect(messages.map(textOf)).to.deep.equal(['wait', 'Well, wait']);
    expect(messages[1]).to.include({ stopReason: 'superseded' });
  });

  it('is either that or a tip', async () => {
    const { url } = await startGateway({ app: echo });
    for (const more of [{}, { tip: 'a', version: 'b' }, { version: null }]) {
      const { status, body } = await post(`${url}/move`, { sessionId: 'main', ...more });
      expect([status, body.error.code]).to.deep.equal([400, 'INVALID_PARAMS']);
    }
  });
});
