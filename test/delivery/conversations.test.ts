import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { openStream, type RawStream } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';

const app = defineApp({ run: (turn) => `said ${turn.text}` });

/** What a reader was told, without heartbeats: deltas, ends, gaps and snapshots in order. */
const told = (stream: RawStream): string[] =>
  stream.events
    .filter(({ event }) => ['content_delta', 'session_closed', 'gap', 'snapshot'].includes(event))
    .map(({ event, data }) => {
      if (event === 'content_delta') return data.delta;
      if (event === 'gap') return `gap ${data.reason}`;
      return event === 'snapshot' ? `snapshot of ${data.state.messages.length}` : event;
    });

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`conversations that follow one another under one key (${name})`, () => {
    const setUp = async () => {
      const { url } = await startGateway({ app, store: make() });
      const talk = (message: string) => post(`${url}/send`, { sessionId: 'main', message });
      const close = () => post(`${url}/close`, { sessionId: 'main' });
      const read = (query: string) => openStream(`${url}/events?sessionId=main&token=${TOKEN}${query}`);
      return { url, talk, close, read };
    };
    /** The same behind a conversation that is over. */
    const closedOnce = async () => {
      const { talk, close, read } = await setUp();
      await talk('one');
      await close();
      return { talk, read };
    };
    const last = (stream: RawStream): string =>
      encodeURIComponent(stream.events.findLast(({ id }) => id)!.id!);
    const says = (text: string) => (event: { event: string; data: any }) =>
      event.event === 'content_delta' && event.data.delta === text;

    it('are all told to whoever waited before the first and comes back after the last', async () => {
      const { talk, close, read } = await setUp();
      const waiting = await read('');
      await waiting.until(({ event }) => event === 'heartbeat');
      const place = last(waiting);
      waiting.close();
      for (const text of ['one', 'two']) {
        await talk(text);
        await close();
      }
      await talk('three');
      const back = await read(`&lastEventId=${place}`);
      await back.until(says('said three'));
      expect(told(back)).to.deep.equal([
        ...['said one', 'session_closed', 'gap epoch', 'snapshot of 0'],
        ...['said two', 'session_closed', 'gap epoch', 'snapshot of 0'],
        'said three',
      ]);
    });

    it('are told to whoever saw the end of one, also while none is open', async () => {
      const { talk, close, read } = await setUp();
      const first = await read('');
      await talk('one');
      await close();
      await first.until(({ event }) => event === 'session_closed');
      const place = last(first);
      first.close();
      await talk('two');
      await close();
      const back = await read(`&lastEventId=${place}`);
      await back.until(({ event }) => event === 'session_closed');
      expect(told(back)).to.deep.equal(['gap epoch', 'snapshot of 0', 'said two', 'session_closed']);
      await talk('three');
      await back.until(says('said three'));
      expect(told(back).slice(4)).to.deep.equal(['gap epoch', 'snapshot of 0', 'said three']);
    });

    it('are told to whoever was cut off in the middle of one', async () => {
      const { talk, close, read } = await setUp();
      const first = await read('');
      await talk('one');
      await first.until(says('said one'));
      const place = last(first);
      first.close();
      await close();
      for (const text of ['two', 'three']) {
        await talk(text);
        await close();
      }
      const back = await read(`&lastEventId=${place}`);
      await back.until(says('said three'));
      await back.until(({ event, id }) => event === 'session_closed' && id === last(back));
      expect(told(back)).to.deep.equal([
        ...['session_closed', 'gap epoch', 'snapshot of 0', 'said two'],
        ...['session_closed', 'gap epoch', 'snapshot of 0', 'said three', 'session_closed'],
      ]);
    });

    it('are not told to whoever comes new after they were closed; the next one is', async () => {
      const { talk, read } = await closedOnce();
      const fresh = await read('&from=earliest');
      await fresh.until(({ event }) => event === 'heartbeat');
      const place = last(fresh);
      await talk('two');
      await fresh.until(says('said two'));
      expect(told(fresh)).to.deep.equal(['gap epoch', 'snapshot of 0', 'said two']);
      fresh.close();
      const back = await read(`&lastEventId=${place}`);
      await back.until(says('said two'));
      expect(told(back)).to.deep.equal(['gap epoch', 'snapshot of 0', 'said two']);
    });

    it('begin with a gap where the place is not known', async () => {
      const { talk, read } = await closedOnce();
      const back = await read('&lastEventId=AAAAAAAAAAA.1.1');
      await back.until(({ event }) => event === 'snapshot');
      await talk('two');
      await back.until(says('said two'));
      expect(told(back)).to.deep.equal([
        ...['gap epoch', 'snapshot of 0'],
        ...['gap epoch', 'snapshot of 0', 'said two'],
      ]);
    });
  });
}
