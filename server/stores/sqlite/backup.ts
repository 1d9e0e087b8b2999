import { closeSync, existsSync, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { GatewayError } from '../../../shared/errors.js';
import { syncDirectory, syncFile } from '../files/durable-file.js';
import type { Connection } from './connection.js';
import { openFailure, storeFailed } from './faults.js';
import { filesOf } from './files-beside.js';

/** What a copy is called until all of it is there. */
const PART = '.part';

/**
 * Copies the database to a file of its own, and what stands beside it by `copyFiles`. The file comes last: where it is, all of the
 * copy is on the disk.
 *
 * @throws GatewayError `INVALID_REQUEST` where there is something already; `STORE_FAILED`
 */
export async function backUp(
  connection: Connection,
  path: string,
  copyFiles: (path: string) => Promise<void>,
): Promise<void> {
  const target = resolve(path);
  const files = filesOf(target);
  for (const taken of [target, files]) if (existsSync(taken)) throw isTaken(taken);
  try {
    await drop(target);
    // SQLite takes an empty file for a new one, and leaves its mode as it is: conversations are nobody else's business.
    closeSync(openSync(target + PART, 'wx', 0o600));
    connection.copyTo(target + PART);
    await syncFile(target + PART);
    // After the database: what its messages name was there before they were.
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

/** What a copy that was cut off has left. */
async function drop(target: string): Promise<void> {
  for (const path of [target + PART, `${target + PART}-journal`, filesOf(target) + PART])
    await rm(path, { recursive: true, force: true });
}

/** Where no file was ever kept there is no folder of them. */
function unlessNone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function isTaken(path: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message: `There is something at ${path} already` });
}
