import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { startGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';

const app = defineApp({ run: ({ text }) => `You said ${text}` });
const LENGTH = 450;
const messages = Array.from({ length: LENGTH }, (_, i) => ({
  ...{ id: `m${i}`, role: i % 2 ? ('assistant' as const) : ('user' as const) },
  content: `message ${i}`,
}));

type Gateway = Awaited<ReturnType<typeof startGateway>>['gateway'];

const idsOf = async (gateway: Gateway, id: string): Promise<readonly string[]> =>
  (await gateway.session(id).history({ limit: 1000 })).messages.map((message) => message.id);

describe('a fork of a long conversation', () => {
  it('is of one moment, and there as a whole or not at all, wherever the process ends', async () => {
    const path = newDatabase();
    const inner = sqliteStore({ path });
    const ends: string[] = [];
    let grow: (() => Promise<unknown>) | null = null;
    const store = overriding(inner, {
      append: async (log, events, options) => {
        const result = await inner.append(log, events, options);
        if (log.name !== 'copy') return result;
        ends.push(crashed(path));
        // The source goes on in the middle of it.
        const grown = grow;
        grow = null;
        await grown?.();
        return result;
      },
    });
    const { gateway } = await startGateway({ app, store });
    const source = gateway.session('source');
    await source.import(messages);
    grow = () => source.send('one more').result;
    await source.fork('copy');
    const copied = messages.map(({ id }) => id);
    expect(await idsOf(gateway, 'copy')).to.deep.equal(copied);
    expect(await idsOf(gateway, 'source')).to.have.length(LENGTH + 2);
    expect(ends.length).to.be.above(3);
    for (const [at, left] of ends.entries()) {
      const again = (await startDurable(left, { app })).gateway;
      const isWhole = at === ends.length - 1;
      if (!isWhole) expect(await idsOf(again, 'copy'), `after ${at + 1} appends`).to.deep.equal([]);
      const { tip } = await again.session('source').fork('copy', { at: copied.at(-1)! });
      expect(tip).to.equal(copied.at(-1));
      expect(await idsOf(again, 'copy'), `after ${at + 1} appends, and again`).to.deep.equal(copied);
    }
  });

  it('leaves turns of the event loop to others, as an export does', async () => {
    const { gateway } = await startGateway({ app });
    const source = gateway.session('source');
    await source.import(messages);
    const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
      let turns = 0;
      let isDone = false;
      const turn = (): void => {
        turns += 1;
        if (!isDone) setImmediate(turn);
      };
      setImmediate(turn);
      await work();
      isDone = true;
      return turns;
    };
    const exported = async (): Promise<void> => {
      const items: unknown[] = [];
      for await (const item of source.export('messages')) items.push(item);
      expect(items).to.have.length(LENGTH);
    };
    expect(await turnsOf(() => source.fork('copy'))).to.be.at.least(LENGTH / 100);
    expect(await turnsOf(exported)).to.be.at.least(LENGTH / 100);
  });
});
