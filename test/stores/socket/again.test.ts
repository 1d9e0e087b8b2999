import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { memoryStore } from '../../../server/stores/memory.js';
import { storeOverLine } from '../../../server/stores/socket/socket-store.js';
import { StoreServer } from '../../../server/stores/socket/store-server.js';
import { sqliteStore } from '../../../server/stores/sqlite/index.js';
import type { Store } from '../../../server/stores/store.js';
import { records, refOf, refusal, TestWriter } from '../../../testing/stores/records.js';
import { outcomeOf } from '../../contract/line/describe-members.js';
import { newDatabase } from '../../support/durable.js';
import { portOf } from '../../support/host-server.js';
import { openStore } from '../../support/open-store.js';

/** A process that keeps a store and is started again, each time with the store that it is given. */
async function restarting() {
  let present: StoreServer;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    present.accept(socket);
  });
  const port = await portOf(server);
  return {
    reached: () => openStore(storeOverLine(() => connect(port, '127.0.0.1'))),
    async serve(store: Store): Promise<void> {
      present = new StoreServer(await openStore(store), 2000);
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
  };
}

describe('a store over a socket whose process is started again', () => {
  it('goes on with what is held, under its term, where the file has it', async () => {
    const path = newDatabase();
    const { serve, reached } = await restarting();
    const first = sqliteStore({ path });
    await serve(first);
    const store = await reached();
    const writer = await TestWriter.acquire(store, refOf(), undefined, 'gw.a');
    await writer.append(records(1, 2));
    await first.close();
    await serve(sqliteStore({ path }));
    const third = records(3, 3);
    const append = () => store.append(writer.log, third, { term: writer.term, batch: 2 });
    // It may be sent over the line that ends.
    if ((await outcomeOf(append)) !== 'answered') expect(await append()).to.include({ first: 3, last: 3 });
    const head = (await store.head(refOf()))!;
    expect([head.term, head.head, head.terms.length]).to.deep.equal([writer.term, 3, 1]);
    const other = await store.acquire(refOf(), { holder: 'gw.b' });
    expect(other).to.deep.equal({ kind: 'owned', holder: 'gw.a' });
  });

  it('says that what was in memory is gone', async () => {
    const { serve, reached } = await restarting();
    await serve(memoryStore());
    const store = await reached();
    const writer = await TestWriter.acquire(store, refOf(), undefined, 'gw.a');
    await writer.append(records(1, 2));
    await serve(memoryStore());
    expect(await store.head(refOf())).to.equal(null);
    expect(await refusal(() => writer.append(records(3, 3)))).to.equal('ROLLED_BACK');
  });

  it('answers the batch that was on its way, whether it was written or not', async () => {
    const path = newDatabase();
    const before = sqliteStore({ path });
    await before.open();
    const writer = await TestWriter.acquire(before, refOf());
    await writer.append(records(1, 2));
    const { log, term } = writer;
    await before.close();
    for (const answered of [
      { batch: 1, last: 2 },
      { batch: 0, last: 0 },
    ]) {
      const store = await openStore(sqliteStore({ path }));
      const again = { epoch: log.epoch, term, ...answered };
      expect((await store.acquire(refOf(), { holder: 'gw.a', again })).kind).to.equal('acquired');
      // Once more, where that answer was lost.
      expect((await store.acquire(refOf(), { holder: 'gw.a', again })).kind).to.equal('acquired');
      expect(await store.append(log, records(1, 2), { term, batch: 1 })).to.include({ last: 2 });
      expect((await store.head(refOf()))!.head).to.equal(2);
      await store.close();
    }
  });

  it('is refused where somebody has written since, has it, or closed it, and where not all is there', async () => {
    const path = newDatabase();
    const store = await openStore(sqliteStore({ path }));
    const old = await TestWriter.acquire(store, refOf());
    await old.append(records(1, 2));
    const { epoch } = old.log;
    const kindOf = async (again: { term: number; batch: number; last: number }) =>
      (await store.acquire(refOf(), { holder: 'gw.a', again: { epoch, ...again } })).kind;
    await store.release(refOf(), old.term);
    expect(await kindOf({ term: old.term, batch: 2, last: 3 }), 'a tail was lost').to.equal('absent');
    const next = await TestWriter.acquire(store, refOf(), null);
    expect(await kindOf({ term: old.term, batch: 1, last: 2 }), 'another has it').to.equal('absent');
    await next.append(records(3, 3));
    await store.release(refOf(), next.term);
    expect(await kindOf({ term: old.term, batch: 1, last: 2 }), 'another wrote').to.equal('absent');
    const last = await TestWriter.acquire(store, refOf(), null);
    await last.append(records(4, 4), { close: true });
    expect(await kindOf({ term: last.term, batch: 1, last: 4 }), 'it is closed').to.equal('absent');
  });
});
