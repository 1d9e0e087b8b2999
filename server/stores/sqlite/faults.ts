import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import { StoreError } from '../append.js';

/** Reason why a database could not be opened; `details.reason` of the error. */
export type SqliteOpenFailure =
  | 'driver'
  | 'locked'
  | 'full'
  | 'unwritable'
  | 'corrupt'
  | 'foreign'
  | 'schema';

const BUSY = 5;
const READONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
/** Codes about the data, which fails again: it is too big, or of a wrong kind. */
const OF_DATA: ReadonlySet<number | undefined> = new Set([18, 19, 20, 25]);
const NOTADB = 26;
/** Extended code: everything was written, but may not be on the disk. */
const IOERR_FSYNC = 10 | (4 << 8);

const REASONS: Readonly<Record<number, { readonly reason: SqliteOpenFailure; readonly text: string }>> = {
  [BUSY]: { reason: 'locked', text: 'is in use by another process; one gateway at a time can use it' },
  [READONLY]: {
    reason: 'unwritable',
    text: 'cannot be written; check the permissions of the file and its directory',
  },
  [CORRUPT]: { reason: 'corrupt', text: 'is damaged; move it away and start with a backup or without it' },
  [FULL]: { reason: 'full', text: 'cannot grow: the disk is full' },
  [CANTOPEN]: {
    reason: 'unwritable',
    text: 'cannot be opened; check that it is a file and the permissions of its directory',
  },
  [NOTADB]: { reason: 'corrupt', text: 'is not an SQLite database, or is damaged' },
};

const SYSTEM: Readonly<Record<string, number>> = {
  EACCES: READONLY,
  EPERM: READONLY,
  EROFS: READONLY,
  ENOSPC: FULL,
  EISDIR: CANTOPEN,
  EEXIST: CANTOPEN,
  ENOENT: CANTOPEN,
  ENOTDIR: CANTOPEN,
};

function extendedCode(error: unknown): number | undefined {
  const { errcode, rawCode } = error as { errcode?: number; rawCode?: number };
  return errcode ?? rawCode;
}

/** SQLite's primary result code of an error of either driver, or the code that a failed system call amounts to. */
function resultCode(error: unknown): number | undefined {
  const { code, message } = error as { code?: string; message?: string };
  const extended = extendedCode(error);
  if (extended !== undefined) return extended & 0xff;
  if (code !== undefined && code in SYSTEM) return SYSTEM[code];
  return /Unable to open connection/.test(message ?? '') ? CANTOPEN : undefined;
}

/** The error to report about a database that could not be opened. */
export function openFailure(path: string, error: unknown): unknown {
  if (isGatewayError(error)) return error;
  const known = REASONS[resultCode(error) ?? -1];
  return known ? storeFailed(path, known.reason, known.text, error) : error;
}

export function storeFailed(
  path: string,
  reason: SqliteOpenFailure,
  text: string,
  cause?: unknown,
): GatewayError {
  return new GatewayError({
    code: 'STORE_FAILED',
    message: `The database ${path} ${text}`,
    details: { reason, path },
    cause,
  });
}

/** A write that SQLite did not make. */
export function writeFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return OF_DATA.has(resultCode(error))
    ? new StoreError('REFUSED', 'The database cannot keep this data', { cause: error })
    : new StoreError('UNAVAILABLE', 'The database cannot be written', {
        cause: error,
        isFull: resultCode(error) === FULL,
      });
}

/** The error of a read that must wait for writes, if they may be lost. @throws StoreError `UNAVAILABLE` */
export function notSynced(cause: unknown): never {
  throw new StoreError('UNAVAILABLE', 'The last writes may be lost', { cause });
}

/**
 * The error of a commit that SQLite did not report as made. If only its sync failed, the next process may still find it in the write-ahead
 * log, unless it is overwritten.
 */
export function commitFailure(error: unknown): StoreError {
  if (extendedCode(error) !== IOERR_FSYNC) return writeFailure(error);
  return new StoreError('UNKNOWN', 'SQLite could not sync the disk, so the last write may be lost', {
    cause: error,
  });
}
