import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

function timesIn(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return [stat.mtimeMs];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => timesIn(join(path, entry.name)));
}

/** Whether a file is newer than all of these, files and what is in folders, but for their packages; false where one of them is not there. */
export function isNewerThan(file, others) {
  if (![file, ...others].every((path) => existsSync(path))) return false;
  return Math.max(...others.flatMap(timesIn)) < statSync(file).mtimeMs;
}
