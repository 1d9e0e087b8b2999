import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { hostileStore, listedFates } from '../support/hostile-store.js';

const app = defineApp({
  async *run() {
    for (let i = 0; i < 20; i++) yield `${i} `;
  },
});

describe('a cut that was made and whose answer was lost', () => {
  it('holds up no reader that asks for the earliest there is: it is told of the gap', async () => {
    const hostile = hostileStore(memoryStore(), listedFates({ cut: ['lose'] }));
    const retention = { events: 8 };
    const session = embedGateway({ app, store: hostile.store, limits: { retention } }).session('main');
    await session.send('x').result;
    while (!hostile.met.has('cut lose')) await new Promise(setImmediate);
    const seen: string[] = [];
    const stop = new AbortController();
    const { head } = await session.status();
    // Nothing else happens in the session: whoever reads now must get to its end by itself.
    for await (const { type, cursor } of session.events({ from: 'earliest', signal: stop.signal })) {
      seen.push(type);
      if (type !== 'gap' && cursor?.endsWith(`.${head}`)) break;
    }
    expect(seen.slice(0, 2)).to.deep.equal(['gap', 'snapshot']);
  });
});
