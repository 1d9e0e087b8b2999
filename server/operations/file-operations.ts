import { fieldError, GatewayError } from '../../shared/errors.js';
import type { UploadedFile } from '../../shared/files/contract.js';
import type { SendInput } from '../../shared/messages.js';
import type { Person } from '../auth/types.js';
import { fileNotFound, namedFiles } from '../files/named-files.js';
import type { Upload } from '../files/uploads.js';
import type { ByteRange, FileRecord } from '../stores/files/file-store.js';
import type { SessionRef } from '../stores/stored.js';
import type { Access } from './access.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';

/** A file's name: the last part of a path, without control characters. */
const NAME = /^[^\p{Cc}\p{Cs}/\\]{1,255}$/u;

/** A file that its caller may read. */
export interface ReadableFile {
  readonly record: FileRecord;
  /**
   * Opens the bytes of the file, or a part of them. Read them at once, and call `release` afterwards.
   *
   * @throws GatewayError `TOO_MANY_CONNECTIONS` when the caller reads too many files at once
   */
  open(
    range?: ByteRange,
  ): Promise<{ readonly bytes: AsyncIterable<Uint8Array>; readonly release: () => void }>;
}

/** Uploads and files, authorized for every door. A file that the caller may not see looks like one that does not exist. */
export class FileOperations {
  readonly #env: OperationEnvironment;
  readonly #access: Access;

  constructor(env: OperationEnvironment, access: Access) {
    this.#env = env;
    this.#access = access;
  }

  /** @throws GatewayError */
  async upload(upload: Upload, { person }: Caller): Promise<UploadedFile> {
    const { quotas, calls, files, state } = this.#env;
    if (state.draining) throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
    if (upload.name !== undefined && !NAME.test(upload.name)) throw badName();
    quotas.meet(person);
    quotas.uploads.take(person);
    const release = calls.hold(person);
    try {
      const { scope, key: by } = person;
      const { fileId, name, mediaType, size, sha256 } = await files.upload({ scope, by }, upload);
      return {
        fileId,
        url: `files/${fileId}`,
        ...(name !== undefined && { name }),
        mediaType,
        size,
        sha256,
      };
    } finally {
      release();
    }
  }

  /** @throws GatewayError `FILE_NOT_FOUND` */
  async find(fileId: string, { person }: Pick<Caller, 'person'>, sessionId?: string): Promise<ReadableFile> {
    const { quotas, files, calls } = this.#env;
    quotas.reads.take(person);
    const record = await this.#readable(fileId, person, sessionId);
    if (!record) throw fileNotFound(fileId);
    return {
      record,
      open: async (range) => {
        const release = calls.hold(person);
        try {
          return { bytes: await files.read(record, range), release };
        } catch (error) {
          release();
          throw error;
        }
      },
    };
  }

  async #readable(fileId: string, person: Person, sessionId?: string): Promise<FileRecord | null> {
    if (sessionId !== undefined) {
      const { ref } = await this.#access.session(sessionId, 'history', person);
      return this.#usedIn(fileId, ref);
    }
    const record = await this.#env.files.find(person.scope, fileId);
    return record && (await this.#mayRead(record, person)) ? record : null;
  }

  /**
   * Checks that the sender of a message may see the files that it names. Null if every caller sees all files of the scope; accepting the
   * message then finds missing files.
   *
   * @throws GatewayError `FILE_NOT_FOUND` naming the field
   */
  checkNamed(inputs: readonly SendInput[], person: Person): Promise<void> | null {
    const { sessionAccess, appAccess } = this.#env;
    return sessionAccess || appAccess ? this.#checkNamed(inputs, person) : null;
  }

  async #checkNamed(inputs: readonly SendInput[], person: Person): Promise<void> {
    const { files } = this.#env;
    const messages = inputs.map((input) => ({ content: blocksOf(input) }));
    for (const { fileId, path } of namedFiles(messages)) {
      const record = await files.find(person.scope, fileId);
      if (!record || !(await this.#mayRead(record, person))) throw fileNotFound(fileId, path);
    }
  }

  /**
   * Checks that the session names the files of a message already. A caller that reaches a session by a grant may name no other files of its
   * owner.
   *
   * @throws GatewayError `FILE_NOT_FOUND` naming the field
   */
  async checkShared(inputs: readonly SendInput[], ref: SessionRef): Promise<void> {
    for (const { fileId, path } of namedFiles(inputs.map((input) => ({ content: blocksOf(input) }))))
      if (!(await this.#usedIn(fileId, ref))) throw fileNotFound(fileId, path);
  }

  /** The file, if the session names it; otherwise null. */
  async #usedIn(fileId: string, { scope, app, name }: SessionRef): Promise<FileRecord | null> {
    const { files } = this.#env;
    const record = await files.find(scope, fileId);
    const uses = record ? await files.uses(record) : [];
    return uses.some((use) => use.app === app && use.name === name) ? record : null;
  }

  /** Whether a caller uploaded the file, or may read a session that names it. */
  async #mayRead(record: FileRecord, person: Person): Promise<boolean> {
    const { sessionAccess, appAccess, files } = this.#env;
    if (record.by === person.key || (!sessionAccess && !appAccess)) return true;
    for (const { app, name } of await files.uses(record)) {
      const ref = { scope: record.scope, app, name };
      if (!(await this.#access.mayUse(app, person))) continue;
      if (await this.#access.mayReach(ref, 'history', person)) return true;
    }
    return false;
  }
}

function blocksOf(input: SendInput) {
  if (typeof input === 'string') return [];
  const content = 'content' in input ? input.content : input;
  return typeof content === 'string' ? [] : content;
}

function badName(): GatewayError {
  return fieldError('name', 'must be 1 to 255 characters, without slashes and control characters');
}
