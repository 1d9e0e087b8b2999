import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import type { LogRef } from '../../server/stores/stored.js';
import { askedWords } from '../../server/stores/words.js';
import { chain, newTestEpoch, record, refOf, TestWriter } from '../../testing/stores/records.js';
import { crashed, newDatabase } from '../support/durable.js';
import { open } from './packed-store.js';

const MANY = 3000;
const PART = 500;
/** A word of every message; the file has it wherever something of them is left. */
const SAID = 'zyzzyva';

/** A writer of a conversation that takes many pieces to drop. */
async function longLog(store: Store, name = 'long'): Promise<TestWriter> {
  const writer = await TestWriter.acquire(store, refOf(name));
  const ids = Array.from({ length: MANY }, (_, i) => `${SAID}-${i}`);
  const rows = chain(ids);
  for (let from = 0; from < MANY; from += PART) {
    const messages = rows.slice(from, from + PART);
    const put = messages.map(({ id: messageId }, i) => ({
      ...{ depth: from + i + 1, messageId, role: 'user' as const, at: 1, text: `${SAID} ${messageId}` },
    }));
    await writer.append([record(from / PART + 1)], { messages, said: { put } });
  }
  return writer;
}

const found = async (store: Store): Promise<number> =>
  (await store.search!({ within: [refOf()], words: askedWords(SAID), limit: 10, chars: 1e6 })).hits.length;

async function rowsIn(path: string): Promise<number> {
  const db = (await loadDriver())(path);
  const count = (table: string): number => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n);
  const rows = count('message') + count('said');
  db.close();
  return rows;
}

const holdsAny = (path: string): boolean =>
  [path, `${path}-wal`].some((name) => existsSync(name) && readFileSync(name).includes(SAID));

const erase = (writer: TestWriter) => writer.append([record(9)], { erase: newTestEpoch() });
const close = (writer: TestWriter) => writer.append([record(9)], { close: true });

async function nothingIsFound(store: Store, log: LogRef): Promise<void> {
  expect(await found(store)).to.equal(0);
  expect(await store.messages(log, { tip: `${SAID}-${MANY - 1}`, limit: 10 })).to.deep.equal([]);
}

describe('the SQLite store, dropping a long conversation', () => {
  it('finds nothing of it as soon as that is answered, and is done with it in many turns', async () => {
    const path = newDatabase();
    const store = await open(path);
    const writer = await longLog(store);
    expect(await found(store)).to.equal(10);
    await erase(writer);
    await nothingIsFound(store, writer.log);
    let turns = 0;
    for (let left = Number.POSITIVE_INFINITY; left > 0; turns++) {
      await new Promise(setImmediate);
      const now = await rowsIn(crashed(path));
      expect(now).to.be.at.most(left);
      if (turns === 0) expect(now).to.be.above(0);
      left = now;
    }
    expect(turns).to.be.above(2);
    await nothingIsFound(store, writer.log);
  });

  it('goes on after a crash, and leaves no byte to who asks for that', async () => {
    const path = newDatabase();
    const store = await open(path);
    await erase(await longLog(store));
    const left = crashed(path);
    expect(await rowsIn(crashed(path))).to.be.above(0);
    const again = await open(left);
    expect(await found(again)).to.equal(0);
    await again.vacuum!();
    expect(holdsAny(left)).to.equal(false);
    await store.vacuum!();
    expect(holdsAny(path)).to.equal(false);
  });

  it('has none of it in a copy that is made right then', async () => {
    const store = sqliteStore({ path: newDatabase() });
    await store.open();
    await erase(await longLog(store));
    const copy = newDatabase();
    await store.backup!(copy);
    await store.close();
    expect(holdsAny(copy)).to.equal(false);
  });

  it('finds no text of a closed one, and takes up what was left when it was closed itself', async () => {
    const path = newDatabase();
    const store = sqliteStore({ path });
    await store.open();
    const writer = await longLog(store);
    await close(writer);
    expect(await found(store)).to.equal(0);
    expect(await store.messages(writer.log, { tip: `${SAID}-5`, limit: 10 })).to.have.length(6);
    await store.close();
    const again = await open(path);
    expect(await found(again)).to.equal(0);
    expect(await again.messages(writer.log, { tip: `${SAID}-5`, limit: 10 })).to.have.length(6);
    await again.remove(refOf('long'));
    await again.vacuum!();
    expect(holdsAny(path)).to.equal(false);
  });
});
