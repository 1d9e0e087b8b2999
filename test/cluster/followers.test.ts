import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import type { News } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { textOf } from '../../shared/messages.js';
import { MemoryHub } from '../support/memory-hub.js';
import { startNode } from '../support/nodes.js';
import { overriding, passing } from '../support/overriding.js';
import { until } from '../support/until.js';

const PIECES = 300;

/** Counts what a gateway asks the store, and decides which of its wakes come. */
function watched() {
  const asked = new Map<string, number>();
  let passes: (news: News | undefined) => boolean = () => true;
  const wrap = (inner: Store): Store => {
    const watch: Store['watch'] = (ref, wake) =>
      inner.watch(ref, (news) => {
        if (passes(news)) wake(news);
      });
    return passing(overriding(inner, { watch }), (name, call) => {
      asked.set(name, (asked.get(name) ?? 0) + 1);
      return call();
    });
  };
  return {
    wrap,
    count: (name: keyof Store): number => asked.get(name) ?? 0,
    let: (which: (news: News | undefined) => boolean): void => {
      passes = which;
    },
  };
}

/** A gateway that streams an answer a piece at a time, and one on the same store where somebody reads it. */
async function following() {
  const app = defineApp({
    async *run(turn) {
      for (let i = 0; i < (textOf(turn.message) === 'stream' ? PIECES : 1); i++) {
        yield `${i} `;
        await new Promise(setImmediate);
      }
    },
  });
  const hub = new MemoryHub();
  const store = watched();
  const holder = await startNode(hub, { app });
  const other = await startNode(hub, { app, store: store.wrap });
  await holder.client.send('main', 'hello').result;
  /** What a reader at the other gateway is told of the answer, joined. */
  const streamed = async (): Promise<string> => {
    const events = other.client.events('main', { from: 'now' });
    const first = events[Symbol.asyncIterator]().next();
    await until(() => hub.watches('main') > 0);
    const sent = holder.client.send('main', 'stream');
    let text = '';
    for (let next = await first; ; next = await events[Symbol.asyncIterator]().next()) {
      const { value: event } = next;
      if (event.type === 'content_delta') text += event.delta;
      if (event.type === 'gap') text += 'GAP';
      if (event.type === 'message_end') break;
    }
    await sent.result;
    return text;
  };
  return { hub, store, streamed };
}

const WHOLE = Array.from({ length: PIECES }, (_, i) => `${i} `).join('');

describe('a gateway that follows a session', () => {
  it('is told what is appended, and asks the store where a run begins and ends', async () => {
    const { store, streamed } = await following();
    const before = { head: store.count('head'), read: store.count('read'), run: store.count('run') };
    expect(await streamed()).to.equal(WHOLE);
    expect(store.count('head') - before.head, 'looks').to.be.lessThan(PIECES / 10);
    expect(store.count('read') - before.read, 'pages').to.be.lessThan(PIECES / 10);
    expect(store.count('run') - before.run, 'runs').to.be.lessThan(PIECES / 10);
  });

  it('shows all of it once where some news are lost', async () => {
    const { store, streamed } = await following();
    let n = 0;
    store.let((news) => news === undefined || n++ % 3 !== 0);
    expect(await streamed()).to.equal(WHOLE);
  });

  it('shows all of it once where news come late and in any order', async () => {
    const { hub, streamed } = await following();
    let n = 0;
    hub.wakeTurns = () => (n++ * 7) % 5;
    expect(await streamed()).to.equal(WHOLE);
  });
});
