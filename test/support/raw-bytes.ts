import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Every file below a directory. */
export function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const stats = statSync(path);
    if (stats.isDirectory()) return filesBelow(path);
    return stats.isFile() ? [path] : [];
  });
}

/** The files below a directory that have a text or bytes in them, or in their path. */
export function filesWith(directory: string, planted: string | Uint8Array): string[] {
  return filesBelow(directory).filter(
    (path) =>
      readFileSync(path).includes(planted as string) ||
      (typeof planted === 'string' && path.includes(planted)),
  );
}
