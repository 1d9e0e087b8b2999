import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

function timesIn(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return [mtimeMs];
  return readdirSync(path, { recursive: true }).map((name) => statSync(join(path, name)).mtimeMs);
}

/** Whether a file is newer than all of these, files and what is in folders; false where one of them is not there. */
export function isNewerThan(file, others) {
  if (![file, ...others].every((path) => existsSync(path))) return false;
  return Math.max(...others.flatMap(timesIn)) < statSync(file).mtimeMs;
}
