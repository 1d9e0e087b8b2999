import { parseCursor } from '../../shared/cursor.js';
import { fieldError, type GatewayError } from '../../shared/errors.js';
import type { Message } from '../../shared/messages.js';
import type { ByteRange, FileRecord, FileUse } from '../stores/files/file-store.js';
import type { RecordHome } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import { guarded } from './file-failure.js';
import { fileNotFound, type NamedFile, namedFiles, withMediaTypes } from './named-files.js';
import { openedFile, type StoredFile } from './stored-file.js';
import { type Upload, Uploads, type UploadsOptions } from './uploads.js';

/** The store, limits and clock of a gateway's files. */
export interface FilesOptions extends UploadsOptions {
  readonly sessions: Pick<Store, 'conversations'>;
  readonly limits: {
    readonly fileBytes: number;
    readonly filesPerSend: number;
    readonly inlineFileBytes: number;
    readonly unnamedFileMs: number;
  };
  /** The clock for ageing, in milliseconds since the epoch. */
  now(): number;
}

/** The files that a message names, kept for it. */
export interface NamedFiles {
  /** The messages, with the true types and names of their files. */
  readonly messages: readonly Message[];
  /** Tells that the message is in a log. @param cursor A place in that log */
  accepted(cursor: string): void;
  /** Tells that the message will never be in a log. */
  withdrawn(): void;
}

/**
 * The files of a gateway: uploads, the messages that name them, and the removal of unnamed ones. A message's files are noted as named
 * before the message is accepted. So a crash in between keeps a file too long, and never drops one too soon.
 */
export class GatewayFiles {
  readonly #options: FilesOptions;
  readonly #uploads: Uploads;

  constructor(options: FilesOptions) {
    this.#options = options;
    this.#uploads = new Uploads(options);
  }

  /**
   * Stores an uploaded file. The same bytes of the same user, under the same name and type, are the same file.
   *
   * @throws GatewayError `PAYLOAD_TOO_LARGE`, `QUOTA_EXCEEDED`, `OVERLOADED` if it can't be kept now
   */
  upload(owner: { readonly scope: string; readonly by: string }, upload: Upload): Promise<FileRecord> {
    return this.#uploads.store(owner, upload);
  }

  /** A file of a scope; null if there is none. */
  find(scope: string, fileId: string): Promise<FileRecord | null> {
    return this.#guarded('finding a file', () => this.#options.store.stat(scope, fileId));
  }

  /** The places that name a file. */
  uses({ scope, fileId }: FileRecord): Promise<readonly FileUse[]> {
    return this.#guarded('finding a file', () => this.#options.store.uses(scope, fileId));
  }

  /** Whether a scope has any file. */
  async any(scope: string): Promise<boolean> {
    const { files } = await this.#guarded('counting files', () => this.#options.store.usage(scope));
    return files > 0;
  }

  /** The bytes of a file. @throws GatewayError `FILE_NOT_FOUND` if it was dropped meanwhile */
  async read({ scope, fileId }: FileRecord, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    const bytes = await this.#guarded('reading a file', () => this.#options.store.read(scope, fileId, range));
    if (!bytes) throw fileNotFound(fileId);
    return bytes;
  }

  /** A file for an app. @throws GatewayError `FILE_NOT_FOUND` */
  async open(scope: string, fileId: string): Promise<StoredFile> {
    const record = await this.find(scope, fileId);
    if (!record) throw fileNotFound(fileId);
    return openedFile(record, this.#options.limits.inlineFileBytes, (range) => this.read(record, range));
  }

  /**
   * Keeps the files that messages name, for the session of these messages. Null if they name none.
   *
   * @param runId Id of the run that the messages begin, or of another reason.
   * @param most Most files that the messages may name.
   * @throws GatewayError `FILE_NOT_FOUND` or `INVALID_PARAMS`, naming the field
   */
  name(
    ref: SessionRef,
    runId: string,
    messages: readonly Message[],
    most: number = this.#options.limits.filesPerSend,
  ): Promise<NamedFiles> | null {
    const named = namedFiles(messages);
    if (named.length === 0) return null;
    const count = new Set(named.map(({ fileId }) => fileId)).size;
    if (count > most) throw tooMany(most);
    return this.#name(ref, runId, messages, named);
  }

  async #name(
    { scope, app, name }: SessionRef,
    runId: string,
    messages: readonly Message[],
    named: readonly NamedFile[],
  ): Promise<NamedFiles> {
    const { store, now } = this.#options;
    const ids = [...new Set(named.map(({ fileId }) => fileId))];
    const use = { app, name, runId, at: now() };
    const records = new Map<string, FileRecord>();
    for (const { fileId, path } of named) {
      if (records.has(fileId)) continue;
      const record = await this.find(scope, fileId);
      if (!record) throw fileNotFound(fileId, path);
      records.set(fileId, record);
    }
    for (const { fileId, path } of named) {
      const kept = await this.#guarded('naming a file', () => store.use(scope, fileId, use));
      if (!kept) throw fileNotFound(fileId, path);
    }
    return { messages: withMediaTypes(messages, records), ...this.#noted(scope, ids, use) };
  }

  /**
   * Keeps files for a session that begins with another one's messages. Null if there are none.
   *
   * @param began Id of the beginning, in the place of a run's id
   */
  async carry(
    { scope, app, name }: SessionRef,
    began: string,
    ids: readonly string[],
  ): Promise<Omit<NamedFiles, 'messages'> | null> {
    if (ids.length === 0) return null;
    const use = { app, name, runId: began, at: this.#options.now() };
    // A missing file is missing in the original session too.
    for (const fileId of ids)
      await this.#guarded('naming a file', () => this.#options.store.use(scope, fileId, use));
    return this.#noted(scope, ids, use);
  }

  #noted(scope: string, ids: readonly string[], use: FileUse): Omit<NamedFiles, 'messages'> {
    const { store, report } = this.#options;
    const { app, name, at } = use;
    const each = (change: (fileId: string) => Promise<unknown>): void =>
      // The note from before the message keeps the file until this is done, and if it never is.
      void Promise.all(ids.map(change)).catch((error: unknown) =>
        report(error, 'noting where a file is named'),
      );
    return {
      accepted: (cursor) => {
        const epoch = parseCursor(cursor)?.epoch;
        if (epoch === undefined) return;
        each(async (fileId) => {
          await store.use(scope, fileId, { app, name, epoch, at });
          await store.release(scope, fileId, use);
        });
      },
      withdrawn: () => each((fileId) => store.release(scope, fileId, use)),
    };
  }

  /** Drops files after the last conversation that names them, and those that no message named in time. */
  async sweep(): Promise<void> {
    const { store, sessions, limits, now } = this.#options;
    const before = now() - limits.unnamedFileMs;
    await store.sweep({
      before,
      isOver: async (ref, { epoch, at }) => {
        // The message may still be on its way.
        if (epoch === undefined && at >= before) return false;
        const kept = await sessions.conversations(ref);
        return epoch === undefined ? kept.length === 0 : !kept.includes(epoch);
      },
    });
  }

  /**
   * Drops the files of a scope, or the files that only a single session of the scope names.
   *
   * @returns the number of dropped files
   */
  async erase({ scope, app, name }: RecordHome): Promise<number> {
    const { store, now } = this.#options;
    const before = now();
    return this.#guarded('erasing files', async () => {
      let count = 0;
      for await (const record of store.list(scope)) {
        const ref = app === undefined ? null : { scope, app, name };
        if (ref && !(await this.#isLetGo(record, ref, before))) continue;
        await store.delete(scope, record.fileId);
        count += 1;
      }
      await store.clear(scope);
      return count;
    });
  }

  /** Removes the places in a deleted session that name a file. True if there were any and no other place names it. */
  async #isLetGo({ scope, fileId }: FileRecord, ref: SessionRef, before: number): Promise<boolean> {
    const { store, sessions } = this.#options;
    const own = ({ app, name }: FileUse): boolean => app === ref.app && name === ref.name;
    const uses = (await store.uses(scope, fileId)).filter(own);
    if (uses.length === 0) return false;
    // The session may have begun anew, with the same file.
    const kept = await sessions.conversations(ref);
    const over = ({ epoch, at }: FileUse): boolean =>
      epoch === undefined ? at <= before : !kept.includes(epoch);
    for (const use of uses.filter(over)) await store.release(scope, fileId, use);
    return (await store.uses(scope, fileId)).length === 0;
  }

  #guarded<T>(what: string, call: () => Promise<T>): Promise<T> {
    return guarded(this.#options.report, what, call);
  }
}

function tooMany(filesPerSend: number): GatewayError {
  return fieldError('message.content', `must name at most ${filesPerSend} files (limits.filesPerSend)`);
}
