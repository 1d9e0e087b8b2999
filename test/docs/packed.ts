import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from '../support/built-package.js';
import { ROOT } from '../support/program.js';

const run = promisify(execFile);

/** Where the tarball of the package is unpacked. */
const FOLDER = '.cache/docs-package';

/** Packs the package as it is published, and unpacks it. */
export async function unpackPackage(): Promise<void> {
  await buildPackage();
  rmSync(join(ROOT, FOLDER), { recursive: true, force: true });
  mkdirSync(join(ROOT, FOLDER), { recursive: true });
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', FOLDER];
  const { stdout } = await run('npm', args, { cwd: ROOT, maxBuffer: 2 ** 24 });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run('tar', ['-xzf', filename, '--strip-components=1'], { cwd: join(ROOT, FOLDER) });
}

/** Leads the names of the entries to the files in the tarball: `paths` of a project's configuration in a folder beside it. */
export function packedPaths(side: 'types' | 'default'): Record<string, readonly string[]> {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, FOLDER, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, Readonly<Record<'types' | 'default', string>>>>;
  };
  const entries = Object.entries(exports).filter(([, target]) => target.types !== undefined);
  const away = entries.filter(([, target]) => !existsSync(join(ROOT, FOLDER, target[side])));
  // The repository has them, where a compiler would look next.
  if (away.length > 0) throw new Error(`The tarball lacks ${away.map(([path]) => path).join(', ')}`);
  return Object.fromEntries(
    entries.map(([path, target]) => [name + path.slice(1), [join('../docs-package', target[side])]]),
  );
}
