import { createRequire } from 'node:module';

/** Where a package is for a file, if it is there. */
export function resolveFrom(file: string | URL, name: string): string | undefined {
  try {
    return createRequire(file).resolve(name);
  } catch {
    return undefined;
  }
}
