import type { MaybePromise } from '../../async/maybe-promise.js';
import type { SessionRef } from '../stored.js';

/** The record of a stored file. */
export interface FileRecord {
  readonly fileId: string;
  /** The owner's scope. Files are found only within their scope. */
  readonly scope: string;
  /** Key of the user who uploaded the file, made by the gateway. */
  readonly by: string;
  readonly name?: string;
  /** The media type, found from the bytes. */
  readonly mediaType: string;
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A place that names a file. */
export interface FileUse {
  readonly app: string;
  readonly name: string;
  /** The log that holds the message; absent while the message is on its way to a log. */
  readonly epoch?: string;
  /** The run that the message begins; it identifies a use without an epoch. */
  readonly runId?: string;
  /** The time when the use began; milliseconds since the epoch. */
  readonly at: number;
}

/** A part of a file: its first and last byte, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The size of a scope's files. */
export interface FileUsage {
  readonly files: number;
  readonly bytes: number;
}

/** The rules of a sweep. */
export interface FileSweep {
  /** Drops unused files that were last uploaded before this time, and older remains of interrupted writes. */
  readonly before: number;
  /** Whether the session that names a file, or that log of it, is gone. */
  isOver(ref: SessionRef, use: FileUse): MaybePromise<boolean>;
}

/**
 * A store of files. A file is there as a whole or not at all. Acknowledged data survives as the implementation promises: in memory nothing
 * survives, a directory survives a loss of power. One contract suite (test/contract/files) describes each member.
 */
export interface FileStore {
  /**
   * Keeps the bytes once all of them have come. If a file with the same id exists, it stays as it is and counts as uploaded now. If the
   * bytes or `describe` fail, nothing is kept.
   *
   * @param describe Called after the last byte.
   * @throws GatewayError `QUOTA_EXCEEDED` if there is no room left
   */
  put(bytes: AsyncIterable<Uint8Array>, describe: () => MaybePromise<FileRecord>): Promise<FileRecord>;
  stat(scope: string, fileId: string): Promise<FileRecord | null>;
  /** The bytes, or a part of them; null without such a file. A read continues to its end, even if the file is dropped meanwhile. */
  read(scope: string, fileId: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
  /** Records of the files of a scope, in no order. */
  list(scope: string): AsyncIterable<FileRecord>;
  /** Drops a file, with its uses. */
  delete(scope: string, fileId: string): Promise<void>;
  /** Removes the remains of interrupted deletes of a scope's files. */
  clear(scope: string): Promise<void>;
  usage(scope: string): Promise<FileUsage>;

  /** Remembers that a file is named somewhere, durably before it resolves. False without such a file. Repeating a use changes nothing. */
  use(scope: string, fileId: string, use: FileUse): Promise<boolean>;
  /** Forgets the use with the same place. */
  release(scope: string, fileId: string, use: FileUse): Promise<void>;
  uses(scope: string, fileId: string): Promise<readonly FileUse[]>;
  /** Drops files that nobody needs. */
  sweep(sweep: FileSweep): Promise<void>;
}

/** Identifies a use. */
export function placeOf({ app, name, epoch, runId }: FileUse): string {
  return JSON.stringify(epoch === undefined ? [app, name, null, runId] : [app, name, epoch]);
}
