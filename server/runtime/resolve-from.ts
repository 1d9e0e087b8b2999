import { createRequire } from 'node:module';

/** Path of a package as seen from a file, if installed. */
export function resolveFrom(file: string | URL, name: string): string | undefined {
  try {
    return createRequire(file).resolve(name);
  } catch {
    return undefined;
  }
}
