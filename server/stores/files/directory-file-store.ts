import { createHash, randomUUID } from 'node:crypto';
import {
  constants,
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { MaybePromise } from '../../async/maybe-promise.js';
import { durableFile, syncDirectory, syncFile, unlessMissing } from './durable-file.js';
import type { ByteRange, FileRecord, FileStore, FileSweep, FileUsage, FileUse } from './file-store.js';
import { placeOf } from './file-store.js';

/** The place of a directory of files. */
export interface DirectoryFilesOptions {
  /** The directory; it is made with the first file. Gateways may share it. */
  readonly path: string;
}

/** The number of bytes of one read. */
const READ_BYTES = 128 * 1024;
/** The number of attempts if the scope's folder is dropped just when a file arrives. */
const TRIES = 10;
const FILE_ID = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * Keeps files in a directory:
 *
 *     <scope>/<file id>/bytes, record.json, uses/<place>.json
 *     .tmp/<random>/                a file that is being written
 *     .tmp/<scope>.<random>/        a file that is being dropped
 *
 * A file becomes visible by one rename, once its bytes and its record are on the disk, and disappears by one. The modification time of
 * `record.json` is the time of the last upload. Scopes and places, which are any text, are hashed.
 */
export class DirectoryFiles implements FileStore {
  readonly #path: string;
  /** The usage of scopes, as far as this process knows; counted anew after each sweep. */
  readonly #usage = new Map<string, { files: number; bytes: number }>();
  /** The number of files that were added or dropped. */
  #changes = 0;

  constructor({ path }: DirectoryFilesOptions) {
    this.#path = path;
  }

  async put(bytes: AsyncIterable<Uint8Array>, describe: () => MaybePromise<FileRecord>): Promise<FileRecord> {
    const temporary = this.#temporary();
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    try {
      await durableFile(join(temporary, 'bytes'), bytes);
      const record = await describe();
      await durableFile(join(temporary, 'record.json'), JSON.stringify(record));
      await mkdir(join(temporary, 'uses'));
      await syncDirectory(temporary);
      return await this.#place(temporary, record);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }

  /** Makes a written file visible, unless it exists. */
  async #place(temporary: string, record: FileRecord): Promise<FileRecord> {
    const { scope, fileId } = record;
    const place = this.#folderOf(scope, fileId);
    const parent = dirname(place);
    // Tries again if another process drops the file, or its folder, in between.
    for (let tries = 0; ; tries++) {
      await mkdir(parent, { recursive: true, mode: 0o700 });
      try {
        await rename(temporary, place);
        await syncDirectory(parent);
        await syncDirectory(this.#path);
        this.#changes += 1;
        const usage = this.#usage.get(scope);
        if (usage) {
          usage.files += 1;
          usage.bytes += record.size;
        }
        return record;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT' && tries < TRIES) continue;
        if (!isTaken(error)) throw error;
      }
      const now = new Date();
      const touched = await unlessMissing(
        utimes(join(place, 'record.json'), now, now).then(() => this.stat(scope, fileId)),
      );
      if (touched) return touched;
    }
  }

  async stat(scope: string, fileId: string): Promise<FileRecord | null> {
    if (!FILE_ID.test(fileId)) return null;
    const text = await unlessMissing(readFile(join(this.#folderOf(scope, fileId), 'record.json'), 'utf8'));
    const record = text === null ? null : (JSON.parse(text) as FileRecord);
    // A file system may treat two spellings as the same.
    return record?.fileId === fileId ? record : null;
  }

  async read(scope: string, fileId: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    if (!(await this.stat(scope, fileId))) return null;
    const handle = await unlessMissing(open(join(this.#folderOf(scope, fileId), 'bytes'), 'r'));
    return handle ? handle.createReadStream({ ...range, highWaterMark: READ_BYTES }) : null;
  }

  async *list(scope: string): AsyncGenerator<FileRecord> {
    for (const fileId of await namesIn(this.#scopeFolder(scope))) {
      const record = await this.stat(scope, fileId);
      if (record) yield record;
    }
  }

  async delete(scope: string, fileId: string): Promise<void> {
    if (FILE_ID.test(fileId)) await this.#drop(this.#folderOf(scope, fileId), null);
    this.#changes += 1;
    this.#usage.delete(scope);
  }

  async clear(scope: string): Promise<void> {
    const out = join(this.#path, '.tmp');
    const begin = `${hashOf(scope)}.`;
    for (const name of await namesIn(out))
      if (name.startsWith(begin)) await rm(join(out, name), { recursive: true, force: true });
    // Removes the folder of an empty scope too, to leave no sign of its existence.
    await rmdir(this.#scopeFolder(scope)).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code ?? '')) throw error;
    });
  }

  async usage(scope: string): Promise<FileUsage> {
    const known = this.#usage.get(scope);
    if (known) return known;
    const usage = { files: 0, bytes: 0 };
    const changes = this.#changes;
    const directory = this.#scopeFolder(scope);
    for (const fileId of await namesIn(directory)) {
      const size = await unlessMissing(stat(join(directory, fileId, 'bytes')));
      if (!size) continue;
      usage.files += 1;
      usage.bytes += size.size;
    }
    // Files that were added or dropped meanwhile may have been missed.
    if (changes === this.#changes) this.#usage.set(scope, usage);
    return usage;
  }

  async use(scope: string, fileId: string, use: FileUse): Promise<boolean> {
    if (!(await this.stat(scope, fileId))) return false;
    const directory = join(this.#folderOf(scope, fileId), 'uses');
    const temporary = this.#temporary();
    await mkdir(dirname(temporary), { recursive: true, mode: 0o700 });
    try {
      await durableFile(temporary, JSON.stringify(use));
      const placed = await unlessMissing(
        rename(temporary, join(directory, fileOf(use))).then(() => syncDirectory(directory)),
      );
      // The file may have been dropped in between.
      return placed !== null && (await this.stat(scope, fileId)) !== null;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async release(scope: string, fileId: string, use: FileUse): Promise<void> {
    if (FILE_ID.test(fileId))
      await rm(join(this.#folderOf(scope, fileId), 'uses', fileOf(use)), { force: true });
  }

  async uses(scope: string, fileId: string): Promise<readonly FileUse[]> {
    return FILE_ID.test(fileId) ? usesIn(this.#folderOf(scope, fileId)) : [];
  }

  async sweep(sweep: FileSweep): Promise<void> {
    for (const folder of await namesIn(this.#path)) {
      if (folder === '.tmp') continue;
      for (const fileId of await namesIn(join(this.#path, folder)))
        await this.#sweepFile(join(this.#path, folder, fileId), sweep);
    }
    const left = join(this.#path, '.tmp');
    for (const name of await namesIn(left)) {
      const newest = Math.max(
        ...(await Promise.all([name, join(name, 'bytes')].map((one) => modifiedAt(join(left, one))))),
      );
      if (newest < sweep.before) await rm(join(left, name), { recursive: true, force: true });
    }
    this.#usage.clear();
  }

  async #sweepFile(place: string, { before, isOver }: FileSweep): Promise<void> {
    const text = await unlessMissing(readFile(join(place, 'record.json'), 'utf8'));
    if (text === null) return;
    const { scope } = JSON.parse(text) as FileRecord;
    for (const use of await usesIn(place)) {
      const { app, name } = use;
      if (await isOver({ scope, app, name }, use))
        await rm(join(place, 'uses', fileOf(use)), { force: true });
    }
    const isUnused = async (at: string): Promise<boolean> =>
      (await modifiedAt(join(at, 'record.json'))) < before && (await namesIn(join(at, 'uses'))).length === 0;
    if (await isUnused(place)) await this.#drop(place, isUnused);
  }

  /** Hides a file and drops it, unless somebody has begun to use it in that moment. */
  async #drop(place: string, may: ((at: string) => Promise<boolean>) | null): Promise<void> {
    // The name contains the scope, so that an erasure of the scope finds it if this is cut off.
    const out = this.#temporary(`${basename(dirname(place))}.`);
    await mkdir(dirname(out), { recursive: true, mode: 0o700 });
    if ((await unlessMissing(rename(place, out).then(() => true))) === null) return;
    if (may && !(await may(out))) {
      // If another upload has taken its place, that one is the file.
      await unlessMissing(rename(out, place)).catch((error: unknown) => {
        if (!isTaken(error)) throw error;
      });
    }
    await rm(out, { recursive: true, force: true });
  }

  /** Copies all files, each as a whole, into another directory, which must not exist. A file that is dropped meanwhile is left out. */
  async copyTo(path: string): Promise<void> {
    for (const folder of await namesIn(this.#path)) {
      if (folder === '.tmp') continue;
      for (const fileId of await namesIn(join(this.#path, folder)))
        await copyFolder(join(this.#path, folder, fileId), join(path, folder, fileId));
    }
  }

  #temporary(begin = ''): string {
    return join(this.#path, '.tmp', `${begin}${randomUUID()}`);
  }

  #scopeFolder(scope: string): string {
    return join(this.#path, hashOf(scope));
  }

  #folderOf(scope: string, fileId: string): string {
    return join(this.#scopeFolder(scope), fileId);
  }
}

/**
 * Keeps files in a directory, durably; the default beside an SQLite store, in `<its path>.files`.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, files: directoryFiles({ path: '/var/lib/agent/files' }) });
 * ```
 */
export function directoryFiles(options: DirectoryFilesOptions): FileStore {
  return new DirectoryFiles(options);
}

/** Copies a file with its record and its uses. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'uses'), { recursive: true, mode: 0o700 });
  const uses = (await namesIn(join(from, 'uses'))).map((name) => join('uses', name));
  const copy = (name: string) => copyFile(join(from, name), join(to, name), constants.COPYFILE_FICLONE);
  for (const name of uses) await unlessMissing(copy(name));
  for (const name of ['bytes', 'record.json']) {
    const isCopied = (await unlessMissing(copy(name).then(() => true))) ?? false;
    if (!isCopied) return rm(to, { recursive: true, force: true });
    await syncFile(join(to, name));
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const fileOf = (use: FileUse): string => `${hashOf(placeOf(use))}.json`;

async function usesIn(place: string): Promise<FileUse[]> {
  const directory = join(place, 'uses');
  const texts = await Promise.all(
    (await namesIn(directory)).map((name) => unlessMissing(readFile(join(directory, name), 'utf8'))),
  );
  return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as FileUse]));
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await unlessMissing(readdir(directory))) ?? [];
}

async function modifiedAt(path: string): Promise<number> {
  return (await unlessMissing(stat(path)))?.mtimeMs ?? 0;
}

function isTaken(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return ['ENOTEMPTY', 'EEXIST'].includes(code) || (code === 'EPERM' && process.platform === 'win32');
}
