import type { MaybePromise } from '../../async/maybe-promise.js';
import type { SessionRef } from '../store.js';

/** A file that is kept. */
export interface FileRecord {
  readonly fileId: string;
  /** Whose it is: files are found within their scope alone. */
  readonly scope: string;
  /** The user who uploaded it, as a key of the gateway's. */
  readonly by: string;
  readonly name?: string;
  /** What its bytes say that it is. */
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** Of the bytes, hex. */
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Where a file is named. */
export interface FileUse {
  readonly app: string;
  readonly name: string;
  /** The log that holds the message; absent while the message is on its way to a log. */
  readonly epoch?: string;
  /** Names a use without an epoch: the run that the message begins. */
  readonly runId?: string;
  /** When it began; milliseconds since the epoch. */
  readonly at: number;
}

/** A part of a file: its first and last byte, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What a scope's files take up. */
export interface FileUsage {
  readonly files: number;
  readonly bytes: number;
}

/** What a sweep goes by. */
export interface FileSweep {
  /** Files that nobody uses and that were last uploaded before this time are dropped, and what cut writes have left since. */
  readonly before: number;
  /** Whether the session, or the log of it, that names a file is gone. */
  isOver(ref: SessionRef, use: FileUse): MaybePromise<boolean>;
}

/**
 * Where files are kept. A file is there as a whole or not at all, and what was acknowledged survives what the store's own promise
 * names: memory nothing, a directory the loss of power. One contract suite (test/contract/files) describes each member.
 */
export interface FileStore {
  /**
   * Keeps what comes, once all of it has come. A file that is there already under the same id is kept as it is, and counts as uploaded
   * now. When the bytes or `describe` fail, nothing is kept.
   *
   * @param describe Called after the last byte.
   * @throws GatewayError `QUOTA_EXCEEDED` when there is no room left
   */
  put(bytes: AsyncIterable<Uint8Array>, describe: () => MaybePromise<FileRecord>): Promise<FileRecord>;
  stat(scope: string, fileId: string): Promise<FileRecord | null>;
  /** The bytes, or a part of them; null without such a file. What is being read is read to its end, whatever is dropped meanwhile. */
  read(scope: string, fileId: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
  /** Records of the files of a scope, in no order. */
  list(scope: string): AsyncIterable<FileRecord>;
  /** Drops a file, with its uses. */
  delete(scope: string, fileId: string): Promise<void>;
  /** Drops what deletes that were cut off have left of files of a scope. */
  clear(scope: string): Promise<void>;
  usage(scope: string): Promise<FileUsage>;

  /** Remembers that a file is named somewhere, durably before it resolves; false without such a file. The same use again changes nothing. */
  use(scope: string, fileId: string, use: FileUse): Promise<boolean>;
  /** Forgets a use: the one with the same place. */
  release(scope: string, fileId: string, use: FileUse): Promise<void>;
  uses(scope: string, fileId: string): Promise<readonly FileUse[]>;
  /** Drops what nobody needs. */
  sweep(sweep: FileSweep): Promise<void>;
}

/** What tells uses apart. */
export function placeOf({ app, name, epoch, runId }: FileUse): string {
  return JSON.stringify(epoch === undefined ? [app, name, null, runId] : [app, name, epoch]);
}
