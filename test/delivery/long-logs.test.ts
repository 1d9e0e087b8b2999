import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { TOKEN } from '../support/gateway.js';

const PIECES = 450;
const PIECE = 'x'.repeat(1700);
const ANSWERS = 12;

const app = defineApp({
  async *run() {
    for (let i = 0; i < PIECES; i++) yield PIECE;
  },
});

/** Turns of the event loop that others get while something is done. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
}

describe('a log as long as retention allows, on a store that answers at once', () => {
  it('holds up nobody while it is folded and while it is read', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app });
    for (let i = 0; i < ANSWERS; i++) await first.gateway.session('main').send('more').result;
    await first.gateway.close();
    const { gateway } = await startDurable(path, { app });
    const ask = (what: string) =>
      gateway.fetch(
        new Request(`http://127.0.0.1${what}`, { headers: { authorization: `Bearer ${TOKEN}` } }),
      );
    // What the gateway does for any request, whatever is in the session.
    await (await ask('/history?sessionId=other')).text();
    const folding = await turnsOf(async () => {
      const page = await (await ask('/history?sessionId=main&limit=1')).json();
      expect(page.messages).to.have.length(1);
    });
    const chars = ANSWERS * PIECES * PIECE.length;
    expect(folding).to.be.above(chars / 2 ** 20);

    const reading = await turnsOf(async () => {
      const { body } = await ask('/events?sessionId=main&from=earliest');
      const reader = body!.getReader();
      for (let read = 0; read < chars; ) read += (await reader.read()).value!.length;
      await reader.cancel();
    });
    expect(reading).to.be.above(chars / 2 ** 20);
  });
});
