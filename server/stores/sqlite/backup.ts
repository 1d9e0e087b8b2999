import { closeSync, existsSync, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { GatewayError } from '../../../shared/errors.js';
import { syncDirectory, syncFile } from '../files/durable-file.js';
import type { SqliteConnection } from './connection.js';
import { openFailure, storeFailed } from './faults.js';
import { filesOf } from './files-beside.js';

/** Suffix of a copy until all of it is there. */
const PART = '.part';

/**
 * Copies the database to a file of its own, and the files beside it by `copyFiles`. The database is renamed last: if it is there, the whole
 * copy is on the disk.
 *
 * @throws GatewayError `INVALID_REQUEST` if something is there already; `STORE_FAILED`
 */
export async function backUp(
  connection: SqliteConnection,
  path: string,
  copyFiles: (path: string) => Promise<void>,
): Promise<void> {
  const target = resolve(path);
  const files = filesOf(target);
  for (const taken of [target, files]) if (existsSync(taken)) throw isTaken(taken);
  try {
    await drop(target);
    // SQLite takes an empty file for a new database and keeps its mode. Other users must not read conversations.
    closeSync(openSync(target + PART, 'wx', 0o600));
    connection.copyTo(target + PART);
    await syncFile(target + PART);
    // After the database: files are stored before the messages that name them.
    await copyFiles(files + PART);
    await rename(files + PART, files).catch(unlessNone);
    await rename(target + PART, target);
    await syncDirectory(dirname(target));
  } catch (error) {
    await drop(target).catch(() => {});
    const failure = openFailure(target, error);
    throw failure === error ? storeFailed(target, 'unwritable', 'cannot be written', error) : failure;
  }
}

/** Removes the remains of a copy that was cut off. */
async function drop(target: string): Promise<void> {
  for (const path of [target + PART, `${target + PART}-journal`, filesOf(target) + PART])
    await rm(path, { recursive: true, force: true });
}

/** The folder is missing if no file was ever kept. */
function unlessNone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function isTaken(path: string): GatewayError {
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message: `There is something at ${path} already; name a new path`,
  });
}
