import { expect } from 'chai';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce } from '../../shared/fold.js';
import { connectClient, takeUntil } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { startGateway } from '../support/gateway.js';
import { ENGINES_AND_LATE } from '../support/test-store.js';
import { sized, summariesIn, summarizing, talk } from './support.js';

const limits = { sendsPerSecond: Infinity };

/** The events from a place up to a cursor. */
const eventsFrom = (url: string, from: string, last: string): Promise<readonly GatewayEvent[]> =>
  takeUntil(connectClient(url).events('main', { from }), ({ cursor }) => cursor === last);

for (const [name, make] of Object.entries(ENGINES_AND_LATE)) {
  describe(`summaries in the log (${name})`, () => {
    it('are the same in a snapshot, after the events from every place, and in the history', async () => {
      const { url } = await startGateway({ app: summarizing(sized()).app, store: make(), limits });
      const session = connectClient(url).session('main');
      await talk(session as never, 7);
      await session.edit('q5', 'e5').result;
      const { cursor, messages } = await session.state();
      expect(summariesIn(messages)).to.have.length(2);
      expect(messages).to.deep.equal((await session.history()).messages);
      const all = await eventsFrom(url, 'earliest', cursor!);
      const whole = all.reduce(reduce, initialState);
      expect(whole.messages).to.deep.equal(messages);
      let state = initialState;
      for (const event of all) {
        state = reduce(state, event);
        const rest = event.cursor === cursor ? [] : await eventsFrom(url, event.cursor!, cursor!);
        // The same once more with the events that a reader has already seen.
        expect(rest.reduce(reduce, state).messages).to.deep.equal(messages);
      }
    });

    it('stay with messages whose events are not kept any more', async () => {
      const retention = { events: 12 };
      const { app, histories } = summarizing(sized());
      const { url } = await startGateway({ app, store: make(), limits: { ...limits, retention } });
      const session = connectClient(url).session('main');
      await talk(session as never, 20);
      const { messages } = await session.history({ limit: 100 });
      expect(summariesIn(messages).length).to.be.greaterThan(4);
      const { messages: shown, hasMore } = await session.state();
      expect(hasMore).to.equal(false);
      expect(shown).to.deep.equal(messages);
      await session.fork('fork', { at: messages[9]!.id });
      const forked = await connectClient(url).session('fork').history({ limit: 100 });
      expect(summariesIn(forked.messages)).to.deep.equal(summariesIn(messages.slice(0, 10)));
      expect(histories.at(-1)).to.match(/^\[sum of/);
    });
  });
}

describe('summaries in the log', () => {
  it('are there for the next process, with all that a run of it is given', async () => {
    const path = newDatabase();
    const { app, histories } = summarizing(sized());
    const retention = { events: 10 };
    const before = await startDurable(path, { app, limits: { ...limits, retention } });
    const session = connectClient(before.url).session('main');
    await talk(session as never, 12);
    const { messages } = await session.history({ limit: 100 });
    const after = await startDurable(crashed(path), { app, limits });
    const again = connectClient(after.url).session('main');
    expect((await again.history({ limit: 100 })).messages).to.deep.equal(messages);
    await session.send('next').result;
    const there = histories.at(-1);
    await again.send('next').result;
    expect(histories.at(-1)).to.equal(there);
  });
});
