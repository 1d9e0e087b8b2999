import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { resolveFrom } from '../../runtime/resolve-from.js';

/** Where tsx is, for a file or else for this package. */
export function findTsx(file = join(process.cwd(), 'any.js')): string | undefined {
  return resolveFrom(file, 'tsx') ?? resolveFrom(import.meta.url, 'tsx');
}

/** Whether this Node loads TypeScript, by itself or with tsx. */
export function loadsTypeScript(): boolean {
  return stripsTypes() || findTsx() !== undefined;
}

/** Whether it does by itself. */
export function stripsTypes(): boolean {
  return Boolean((process.features as { typescript?: unknown }).typescript);
}

/** Whether sessions can be kept in an SQLite file. */
export function hasSqlite(): boolean {
  return isBuiltin('node:sqlite') || resolveFrom(import.meta.url, 'libsql') !== undefined;
}
