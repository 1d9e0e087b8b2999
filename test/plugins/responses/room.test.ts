import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { responsesPlugin } from '../../../server/plugins/responses/index.js';
import { gate } from '../../support/gate.js';
import { alone } from '../../support/gateway.js';
import { askBelow, posting, startDoor } from '../door.js';

/** A gateway on which a user may have three sessions, and an answer that is held. */
async function start() {
  const held = gate();
  const began = gate();
  const app = defineApp({
    async *run(turn) {
      if (turn.text === 'hold') {
        began.open();
        await held.passed;
      }
      yield turn.text;
    },
  });
  const limits = { sessionsPerUser: 3 };
  const { gateway, url } = await startDoor(responsesPlugin(), { app, limits, ...alone() });
  const ask = askBelow(`${url}/v1/responses`);
  return {
    held,
    began,
    session: (name: string) => gateway.session(name, { user: { id: 'alice' } }),
    create: (input: string, more: object = {}, headers: Record<string, string> = {}) =>
      ask('', posting({ model: 'default', input, ...more }, { headers })),
    found: async (id: string) => (await ask(`/${id}`)).status === 200,
  };
}

const idOf = async (response: Response): Promise<string> => {
  expect(response.status).to.equal(200);
  return (await response.json()).id;
};

describe('the sessions of responses, where their user has as many as allowed', () => {
  it('make room for each other and for every door, the longest unused first', async () => {
    const { create, found, session } = await start();
    await session('mine').send('hello').result;
    const first = await idOf(await create('one'));
    const second = await idOf(await create('two'));
    await idOf(await create('again', { previous_response_id: first }));
    const third = await idOf(await create('three'));
    expect([await found(first), await found(second), await found(third)]).to.deep.equal([true, false, true]);
    for (let n = 0; n < 10; n++) await idOf(await create(`more ${n}`));
    await session('chat').send('hello').result;
    expect((await session('mine').history()).messages).to.have.length(2);
  });

  it('stay while they have a run', async () => {
    const { create, found, held, began } = await start();
    const running = create('hold');
    await began.passed;
    const oldest = await idOf(await create('one'));
    for (let n = 0; n < 5; n++) await idOf(await create(`more ${n}`));
    expect(await found(oldest)).to.equal(false);
    held.open();
    expect(await found(await idOf(await running))).to.equal(true);
  });

  it('are refused where all others were named, and their client is told not to try again', async () => {
    const { create, session } = await start();
    for (const name of ['a', 'b', 'c']) await session(name).send('hello').result;
    for (let n = 0; n < 2; n++) {
      const refused = await create('one');
      expect(refused.status).to.equal(429);
      expect(refused.headers.get('retry-after')).to.equal(null);
      expect(refused.headers.get('x-should-retry')).to.equal('false');
    }
    expect((await session('a').history()).messages).to.have.length(2);
  });
});
