import { mkdirSync, readdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { directoryFiles, type FileStore } from '../../../server/index.js';
import { tempDir } from '../../support/temp-dir.js';
import { fileStoreContract } from './suite.js';

let path = '';
const namesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

fileStoreContract({
  name: 'directory',
  open: () => {
    path = join(tempDir(), 'files');
    return directoryFiles({ path });
  },
  reopen: () => directoryFiles({ path }),
  leftovers: () => namesIn(join(path, '.tmp')),
});

describe('files in a directory', () => {
  let store: FileStore;
  const put = (fileId: string) =>
    store.put(
      (async function* () {
        yield new Uint8Array(3);
      })(),
      () => ({ fileId, scope: 's', by: 's', mediaType: 'a/b', size: 3, sha256: '', createdAt: 0 }),
    );

  beforeEach(() => {
    path = join(tempDir(), 'deep', 'files');
    store = directoryFiles({ path });
  });

  it('make no directory before there is one', async () => {
    expect(await store.usage('s')).to.deep.equal({ files: 0, bytes: 0 });
    await store.sweep({ before: Date.now(), isOver: () => true });
    expect(namesIn(path)).to.deep.equal([]);
  });

  it('are nobody else’s to read', async () => {
    await put('file_a');
    const [scope] = readdirSync(path).filter((name) => name !== '.tmp');
    expect(statSync(join(path, scope!)).mode & 0o077).to.equal(0);
    expect(statSync(join(path, scope!, 'file_a', 'bytes')).mode & 0o077).to.equal(0);
  });

  it('of a process that was killed while it wrote are swept once they are old', async () => {
    await put('file_a');
    const left = join(path, '.tmp', 'left');
    mkdirSync(left);
    writeFileSync(join(left, 'bytes'), 'half');
    await store.sweep({ before: Date.now() - 60_000, isOver: () => false });
    expect(namesIn(join(path, '.tmp'))).to.deep.equal(['left']);
    const old = new Date(Date.now() - 120_000);
    for (const one of [join(left, 'bytes'), left]) utimesSync(one, old, old);
    await store.sweep({ before: Date.now() - 60_000, isOver: () => false });
    expect(namesIn(join(path, '.tmp'))).to.deep.equal([]);
    expect(await store.stat('s', 'file_a')).to.not.equal(null);
  });

  it('that two stores share stay, where one of them names what the other is about to drop', async () => {
    const other = directoryFiles({ path });
    const rounds = Array.from({ length: 50 }, (_, at) => `file_${at}`);
    for (const fileId of rounds) {
      await put(fileId);
      const sweeping = store.sweep({ before: Date.now() + 60_000, isOver: () => false });
      const named = await other.use('s', fileId, { app: 'a', name: 'n', epoch: 'e', at: 0 });
      await sweeping;
      // Who was told that it is there finds it; one who came in the moment between may be told that it is not.
      if (named) expect(await other.stat('s', fileId), fileId).to.not.equal(null);
    }
  });

  it('clears a scope of what deletes have left that were cut off, and of its folder', async () => {
    const { fileId } = await put('a-file');
    await put('other-file');
    const [scope] = namesIn(path).filter((name) => name !== '.tmp');
    // As a delete begins.
    mkdirSync(join(path, '.tmp'), { recursive: true });
    renameSync(join(path, scope!, fileId), join(path, '.tmp', `${scope}.00000000`));
    mkdirSync(join(path, '.tmp', 'somebody-elses'));
    await store.clear('s');
    expect(namesIn(join(path, '.tmp'))).to.deep.equal(['somebody-elses']);
    expect(namesIn(join(path, scope!))).to.deep.equal(['other-file']);
    await store.delete('s', 'other-file');
    await store.clear('s');
    expect(namesIn(path)).to.deep.equal(['.tmp']);
  });
});
