import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { StoreError } from '../../server/stores/append.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import { records, refOf, TestWriter } from '../../testing/stores/records.js';
import { newDatabase } from '../support/durable.js';
import { openStore } from '../support/open-store.js';

/** What the check of a store says: nothing where all is well. */
async function told(store: Store): Promise<string> {
  try {
    await store.check!();
    return '';
  } catch (error) {
    expect(error).to.be.instanceOf(StoreError).and.to.include({ code: 'UNAVAILABLE' });
    return (error as Error).message;
  }
}

describe('the check of an SQLite store', () => {
  const start = async () => {
    const path = newDatabase();
    const store = await openStore(sqliteStore({ path }));
    const writer = await TestWriter.acquire(store, refOf());
    await writer.append(records(1, 3));
    expect(await told(store)).to.equal('');
    return { path, store, writer };
  };

  it('says that its file was removed, of which a backup still has everything', async () => {
    const { path, store, writer } = await start();
    for (const file of [path, `${path}-wal`]) rmSync(file);
    await writer.append(records(4, 5));
    expect(await told(store))
      .to.contain(path)
      .and.match(/removed or replaced.*backup/);
    const copy = newDatabase();
    await store.backup!(copy);
    const restored = await openStore(sqliteStore({ path: copy }));
    expect((await restored.head(refOf()))?.head).to.equal(5);
  });

  it('says that its file was replaced by another one, and leaves that alone when it closes', async () => {
    const { path, store } = await start();
    const other = newDatabase();
    copyFileSync(path, other);
    renameSync(other, path);
    expect(await told(store)).to.contain(path);
    rmSync(`${path}-wal`);
    writeFileSync(`${path}-wal`, 'of another process');
    await store.close();
    expect(readFileSync(`${path}-wal`, 'utf8')).to.equal('of another process');
  });

  it('says that its write-ahead log was removed', async () => {
    const { path, store } = await start();
    rmSync(`${path}-wal`);
    expect(await told(store)).to.contain(`${path}-wal`);
  });

  it('says nothing more when the file is back where it was', async () => {
    const { path, store } = await start();
    renameSync(path, `${path}.moved`);
    expect(await told(store)).to.contain(path);
    renameSync(`${path}.moved`, path);
    expect(await told(store)).to.equal('');
  });

  it('says nothing after a vacuum, which writes the file anew', async () => {
    const { store } = await start();
    await store.vacuum!();
    expect(await told(store)).to.equal('');
  });
});
