import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { FileRecord, FileStore, FileUse } from '../../../server/stores/files/file-store.js';

/** What a file store is opened with, again where what is kept outlives it. */
export interface FileStoreCase {
  readonly name: string;
  /** A store that nobody has used. */
  open(): FileStore;
  /** Another store on what the one kept that was opened last; undefined where nothing outlives a store. */
  reopen?: () => FileStore;
  /** What lies about of what was never kept. */
  leftovers?: () => readonly string[];
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

async function textOf(content: AsyncIterable<Uint8Array> | null): Promise<string | null> {
  if (!content) return null;
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

const recordOf = (text: string, changes: Partial<FileRecord> = {}): FileRecord => ({
  fileId: `file_${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`,
  scope: 'alice',
  by: 'alice',
  mediaType: 'text/plain',
  size: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
  createdAt: 1,
  ...changes,
});

const use = (name: string, at = 0): FileUse => ({ app: 'a', name, epoch: 'epoch-00000', at });
const never = () => false;
const always = () => true;
const FUTURE = Date.now() + 3_600_000;

/** What every file store does. */
export function fileStoreContract({ name, open, reopen, leftovers = () => [] }: FileStoreCase): void {
  describe(`file store: ${name}`, () => {
    let store: FileStore;
    const put = (text: string, changes: Partial<FileRecord> = {}): Promise<FileRecord> =>
      store.put(chunks(text), () => recordOf(text, changes));

    beforeEach(() => {
      store = open();
    });

    it('keeps what comes in chunks, with its record, and gives it back whole and in parts', async () => {
      const record = recordOf('hello world', { name: 'a "b".txt' });
      expect(await store.put(chunks('hel', '', 'lo wor', 'ld'), () => record)).to.deep.equal(record);
      const { scope, fileId } = record;
      expect(await store.stat(scope, fileId)).to.deep.equal(record);
      const read = async (start: number, end: number) =>
        textOf(await store.read(scope, fileId, { start, end }));
      expect(await textOf(await store.read(scope, fileId))).to.equal('hello world');
      expect(await read(0, 0)).to.equal('h');
      expect(await read(2, 8)).to.equal('llo wor');
      expect(await read(6, 10)).to.equal('world');
      expect(await read(10, 10)).to.equal('d');
    });

    it('keeps an empty file', async () => {
      const { fileId } = await put('');
      expect(await store.stat('alice', fileId)).to.include({ size: 0 });
      expect(await textOf(await store.read('alice', fileId))).to.equal('');
    });

    it('has nothing for other scopes, other ids and ids that are no names', async () => {
      const { fileId } = await put('mine');
      for (const [scope, id] of [
        ['bob', fileId],
        ['alice', `${fileId}x`],
        ['alice', '../alice'],
        ['alice', '..'],
        ['alice', ''],
        ['alice', `${fileId}/bytes`],
      ] as const) {
        expect(await store.stat(scope, id), id).to.equal(null);
        expect(await store.read(scope, id), id).to.equal(null);
        expect(await store.use(scope, id, use('s')), id).to.equal(false);
        expect(await store.uses(scope, id), id).to.deep.equal([]);
        await store.release(scope, id, use('s'));
        await store.delete(scope, id);
      }
      expect(await textOf(await store.read('alice', fileId))).to.equal('mine');
    });

    it('keeps nothing of an upload that is cut, refused or not described', async () => {
      async function* cut(): AsyncGenerator<Uint8Array> {
        yield bytes('half');
        throw new Error('cut');
      }
      const record = recordOf('half');
      const failed = async (upload: Promise<unknown>): Promise<string> =>
        upload.then(
          () => 'kept',
          (error: Error) => error.message,
        );
      expect(await failed(store.put(cut(), () => record))).to.equal('cut');
      const refuse = () => {
        throw new Error('refused');
      };
      expect(await failed(store.put(chunks('half'), refuse))).to.equal('refused');
      expect(await failed(store.put(chunks('half'), async () => refuse()))).to.equal('refused');
      expect(await store.stat('alice', record.fileId)).to.equal(null);
      expect(await store.usage('alice')).to.deep.equal({ files: 0, bytes: 0 });
      expect(leftovers()).to.deep.equal([]);
    });

    it('shows nothing of an upload before its last byte', async () => {
      const record = recordOf('slow');
      const seen: unknown[] = [];
      async function* slow(): AsyncGenerator<Uint8Array> {
        yield bytes('sl');
        seen.push(await store.stat('alice', record.fileId));
        yield bytes('ow');
      }
      await store.put(slow(), async () => {
        seen.push(await store.stat('alice', record.fileId));
        return record;
      });
      expect(seen).to.deep.equal([null, null]);
      expect(await textOf(await store.read('alice', record.fileId))).to.equal('slow');
    });

    it('keeps one file of uploads under one id, also at the same time', async () => {
      const first = recordOf('same', { createdAt: 1 });
      const again = (createdAt: number) => store.put(chunks('same'), () => ({ ...first, createdAt }));
      await store.put(chunks('same'), () => first);
      expect(await again(2)).to.deep.equal(first);
      const other = recordOf('other');
      const both = await Promise.all([1, 2, 3].map(() => store.put(chunks('other'), () => other)));
      expect(both).to.deep.equal([other, other, other]);
      expect(await store.usage('alice')).to.deep.equal({ files: 2, bytes: 9 });
      expect(leftovers()).to.deep.equal([]);
    });

    it('counts what each scope takes up', async () => {
      await put('12345');
      await put('123');
      await put('1234567', { scope: 'bob' });
      expect(await store.usage('alice')).to.deep.equal({ files: 2, bytes: 8 });
      await put('1');
      expect(await store.usage('alice')).to.deep.equal({ files: 3, bytes: 9 });
      await store.delete('alice', recordOf('123').fileId);
      expect(await store.usage('alice')).to.deep.equal({ files: 2, bytes: 6 });
      expect(await store.usage('bob')).to.deep.equal({ files: 1, bytes: 7 });
      expect(await store.usage('carol')).to.deep.equal({ files: 0, bytes: 0 });
    });

    it('reads to the end what it began to, whatever is dropped meanwhile', async () => {
      const text = 'x'.repeat(1_000_000);
      const { fileId } = await put(text);
      const reading = await store.read('alice', fileId);
      await store.delete('alice', fileId);
      expect(await store.stat('alice', fileId)).to.equal(null);
      expect((await textOf(reading))?.length).to.equal(text.length);
    });

    it('remembers each use once, and forgets the one that is released', async () => {
      const { fileId } = await put('used');
      const coming: FileUse = { app: 'a', name: 's', runId: 'run_1', at: 5 };
      expect(await store.use('alice', fileId, coming)).to.equal(true);
      await store.use('alice', fileId, { ...coming, runId: 'run_2' });
      await store.use('alice', fileId, use('s'));
      await store.use('alice', fileId, use('s'));
      await store.use('alice', fileId, use('t'));
      expect(await store.uses('alice', fileId)).to.have.length(4);
      await store.release('alice', fileId, coming);
      const left = await store.uses('alice', fileId);
      expect(left).to.have.deep.members([{ ...coming, runId: 'run_2' }, use('s'), use('t')]);
    });

    it('drops in a sweep what nobody uses and nobody uploaded lately, and nothing else', async () => {
      const [unused, used, over] = [await put('unused'), await put('used'), await put('over')];
      for (const { fileId } of [used, over]) await store.use('alice', fileId, use(fileId));
      await store.sweep({ before: Date.now() - 3_600_000, isOver: never });
      for (const { fileId } of [unused, used, over])
        expect(await store.stat('alice', fileId)).to.not.equal(null);
      const asked: unknown[] = [];
      await store.sweep({
        before: FUTURE,
        isOver: async (ref, { name, epoch }) => {
          asked.push([ref, epoch]);
          return name === over.fileId;
        },
      });
      expect(asked).to.have.deep.members([
        [{ scope: 'alice', app: 'a', name: used.fileId }, 'epoch-00000'],
        [{ scope: 'alice', app: 'a', name: over.fileId }, 'epoch-00000'],
      ]);
      expect(await store.stat('alice', unused.fileId)).to.equal(null);
      expect(await store.stat('alice', over.fileId)).to.equal(null);
      expect(await textOf(await store.read('alice', used.fileId))).to.equal('used');
      expect(await store.usage('alice')).to.deep.equal({ files: 1, bytes: 4 });
    });

    it('keeps in a sweep what was uploaded again after it was last needed', async () => {
      const { fileId } = await put('again');
      await store.use('alice', fileId, use('s'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      const before = Date.now();
      await put('again');
      await store.sweep({ before: before - 10, isOver: always });
      expect(await store.stat('alice', fileId)).to.not.equal(null);
      await store.sweep({ before: FUTURE, isOver: always });
      expect(await store.stat('alice', fileId)).to.equal(null);
    });

    it('lists the files of a scope, and no others', async () => {
      const list = async (scope: string): Promise<FileRecord[]> => {
        const records: FileRecord[] = [];
        for await (const record of store.list(scope)) records.push(record);
        return records;
      };
      expect(await list('alice')).to.deep.equal([]);
      const mine = [await put('one'), await put('two', { name: 'two.txt' })];
      await put('one', { scope: 'bob' });
      expect(await list('alice')).to.have.deep.members(mine);
      for await (const { fileId } of store.list('alice')) await store.delete('alice', fileId);
      expect(await list('alice')).to.deep.equal([]);
      expect(await list('bob')).to.have.length(1);
    });

    it('clears a scope of what is left of deletes, and keeps its files and those that come meanwhile', async () => {
      const { fileId } = await put('kept');
      await store.clear('alice');
      expect(await store.stat('alice', fileId)).to.not.equal(null);
      await store.delete('alice', fileId);
      await store.clear('alice');
      await store.clear('nobody');
      for (let round = 0; round < 20; round++) {
        const coming = put(`again ${round}`);
        for (let i = 0; i < 5; i++) await store.clear('alice');
        const kept = await coming;
        expect(await store.stat('alice', kept.fileId)).to.deep.equal(kept);
        await store.delete('alice', kept.fileId);
      }
      expect(leftovers()).to.deep.equal([]);
    });

    it('keeps in a sweep what it cannot judge', async () => {
      const { fileId } = await put('kept');
      await store.use('alice', fileId, use('s'));
      const failing = store.sweep({
        before: FUTURE,
        isOver: () => {
          throw new Error('the sessions are out of reach');
        },
      });
      expect(await failing.then(() => 'done', String)).to.include('out of reach');
      expect(await store.stat('alice', fileId)).to.not.equal(null);
      expect(await store.uses('alice', fileId)).to.have.length(1);
    });

    if (reopen) {
      it('has everything again when it is opened again', async () => {
        const record = await put('lasting', { name: 'x.txt' });
        await store.use('alice', record.fileId, use('s', 7));
        const other = reopen();
        expect(await other.stat('alice', record.fileId)).to.deep.equal(record);
        expect(await other.uses('alice', record.fileId)).to.deep.equal([use('s', 7)]);
        expect(await other.usage('alice')).to.deep.equal({ files: 1, bytes: 7 });
        expect(await textOf(await other.read('alice', record.fileId))).to.equal('lasting');
      });
    }
  });
}
