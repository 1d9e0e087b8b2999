import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BENCH, ROOT } from '../rig/paths.js';
import type { Sample, Settings } from './sample.js';

/** What lies on the disk when a package is installed with all that it depends on, in KiB. */
export async function measureInstalled(name: string, { against }: Settings): Promise<Sample> {
  const ours = name === 'gateway' ? ROOT : name === 'other' ? dirname(against!) : undefined;
  const seen = new Set<string>();
  let bytes = 0;
  const add = (folder: string): void => {
    if (seen.has(folder)) return;
    seen.add(folder);
    bytes += sizeOf(folder);
    addDependencies(folder);
  };
  const addDependencies = (folder: string): void => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(dependencies)) add(find(dependency, folder));
  };
  if (ours) {
    bytes += packedSize(ours);
    addDependencies(ours);
  } else add(find(name, BENCH));
  return { value: bytes / 1024, more: { packages: seen.size + (ours ? 1 : 0) } };
}

/** Where Node finds a package for the files of a folder. */
function find(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(found)) return realpathSync(found);
    if (folder === dirname(folder)) throw new Error(`${name} is not installed for ${from}`);
  }
}

/** Without packages inside of it: those that it uses are counted by themselves. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + sizeOf(path);
    return entry.isFile() ? sum + statSync(path).size : sum;
  }, 0);
}

/** Builds the package, as it is built when it is packed. */
function packedSize(folder: string): number {
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = JSON.parse(said.slice(said.indexOf('[')));
  return packed.unpackedSize;
}
