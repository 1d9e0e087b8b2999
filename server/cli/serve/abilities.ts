import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { resolveFrom } from '../../runtime/resolve-from.js';

/** The path of tsx, as seen from a file or else from this package. */
export function findTsx(file = join(process.cwd(), 'any.js')): string | undefined {
  return resolveFrom(file, 'tsx') ?? resolveFrom(import.meta.url, 'tsx');
}

/** Whether this process can load TypeScript, by Node itself or with tsx. */
export function loadsTypeScript(): boolean {
  return stripsTypes() || findTsx() !== undefined;
}

/** Whether Node itself loads TypeScript. */
export function stripsTypes(): boolean {
  return Boolean((process.features as { typescript?: unknown }).typescript);
}

/** Whether this process can open SQLite files. */
export function hasSqlite(): boolean {
  return isBuiltin('node:sqlite') || resolveFrom(import.meta.url, 'libsql') !== undefined;
}
