import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { GatewayError } from '../../shared/errors.js';
import { packageFile } from '../runtime/package-files.js';

/** Stands for the dot at the start of a name in templates, because npm omits dot files or reads them itself. */
const DOT = /^_/;

/** The files of a template of the package, by path within the template. */
export async function readTemplate(...path: readonly string[]): Promise<Map<string, string>> {
  const folder = packageFile('templates', ...path);
  const files = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const below = relative(folder, entry.parentPath);
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
    files.set(join(below, entry.name.replace(DOT, '.')), text);
  }
  return files;
}

/** Writes files into a folder, or none if one of them exists. @throws GatewayError if a file exists or cannot be written */
export async function writeTemplate(
  folder: string,
  given: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  const present = [...files.keys()].filter((path) => existsSync(join(folder, path)));
  if (present.length > 0) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: `${given === '.' ? 'This folder' : given} has ${present.join(', ')} already, and nothing is written over: name another folder`,
    });
  }
  for (const [path, text] of files) await write(join(folder, path), text, path === '.env' ? 0o600 : 0o666);
}

async function write(path: string, text: string, mode: number): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // Never overwrite a file that appeared since.
    await writeFile(path, text, { flag: 'wx', mode });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `${path} cannot be written: ${code ?? 'unknown reason'}`;
    throw new GatewayError({ code: 'INVALID_REQUEST', message, cause });
  }
}
