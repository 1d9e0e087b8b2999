import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import {
  chain,
  checkpointAt,
  type MakeStore,
  message,
  opened,
  record,
  records,
  refOf,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

const sizeOf = (from: number, to: number): number =>
  records(from, to).reduce((sum, { body }) => sum + body.length, 0);
const DISTANT_FUTURE = 4_000_000_000_000;

/** Tests the sizes of sessions and scopes. */
export function describeUsage(makeStore: MakeStore): void {
  describe('usage', () => {
    let store: Store;
    let made: StoreUnderTest;
    const usage = async (name = 'main', scope = 'alice') => store.usage(refOf(name, scope));

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
    });

    it('is nothing where nothing was written', async () => {
      expect(await usage()).to.deep.equal({ session: 0, scope: 0 });
    });

    it('grows with what is appended, by session and by scope, asked before or after', async () => {
      await usage();
      const main = await TestWriter.acquire(store, refOf());
      const other = await TestWriter.acquire(store, refOf('other'));
      const stranger = await TestWriter.acquire(store, refOf('main', 'bob'));
      await main.append(records(1, 3));
      await other.append(records(1, 2));
      await stranger.append(records(1, 9));
      await main.append(records(4, 4));
      expect(await usage()).to.deep.equal({ session: sizeOf(1, 4), scope: sizeOf(1, 4) + sizeOf(1, 2) });
      expect(await usage('nobody')).to.deep.equal({ session: 0, scope: sizeOf(1, 4) + sizeOf(1, 2) });
      expect(await usage('main', 'bob')).to.deep.equal({ session: sizeOf(1, 9), scope: sizeOf(1, 9) });
    });

    it('counts messages that a cut kept instead of their events', async () => {
      const main = await TestWriter.acquire(store, refOf());
      await main.append(records(1, 600));
      await usage();
      const messages = chain(['m0', 'm1']);
      await store.cut(main.log, checkpointAt(600, 'm1'), messages, main.term);
      const kept = messages.reduce((sum, it) => sum + JSON.stringify(it).length, 0);
      expect(await usage()).to.deep.equal({ session: kept, scope: kept });
    });

    it('goes on counting a log that was closed, until it is dropped', async () => {
      const main = await TestWriter.acquire(store, refOf());
      await main.append([...records(1, 2), record(3, 'session_closed')], { close: true });
      const anew = await TestWriter.acquire(store, refOf());
      await anew.append(records(1, 1));
      const all = sizeOf(1, 3) + sizeOf(1, 1);
      expect(await usage()).to.deep.equal({ session: all, scope: all });
      await store.expire(DISTANT_FUTURE);
      expect(await usage()).to.deep.equal({ session: sizeOf(1, 1), scope: sizeOf(1, 1) });
      await anew.append([record(2, 'session_closed')], { close: true });
      await store.remove(refOf());
      expect(await usage()).to.deep.equal({ session: 0, scope: 0 });
    });

    it('is not changed by what was refused', async () => {
      const main = await TestWriter.acquire(store, refOf());
      await main.append(records(1, 1), { opens: { runId: 'r', key: 'k', hash: 'h', request: '{}' } });
      await main.append(records(2, 9), { opens: { runId: 'r', key: 'k', hash: 'h', request: '{}' } });
      expect(await usage()).to.deep.equal({ session: sizeOf(1, 1), scope: sizeOf(1, 1) });
    });

    it('is known after the store was opened again', async () => {
      if (!made.reopen) return;
      const main = await TestWriter.acquire(store, refOf());
      await main.append(records(1, 700));
      await store.cut(main.log, checkpointAt(512, 'm0'), [message('m0')], main.term);
      const other = await TestWriter.acquire(store, refOf('other'));
      await other.append([...records(1, 2), record(3, 'session_closed')], { close: true });
      const before = [await usage(), await usage('other')];
      store = await made.reopen();
      expect([await usage(), await usage('other')]).to.deep.equal(before);
    });
  });
}
