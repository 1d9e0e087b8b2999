import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/program.js';

const run = promisify(execFile);
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The package as users get it: built, packed and installed into an empty project. */
export interface Installed {
  readonly project: string;
  readonly tarball: string;
  /** Paths in the tarball. */
  readonly files: readonly string[];
  /** Bytes of what is in it. */
  readonly bytes: number;
  /** What a plain install brought, ours included. */
  readonly plain: { readonly packages: readonly string[]; readonly bytes: number };
  /** Runs Node in the project; rejects when it fails. */
  node(...args: string[]): Promise<string>;
  write(name: string, text: string): void;
  /** Installs packages in the versions that we develop with. */
  install(...names: readonly string[]): Promise<void>;
  remove(): void;
}

let built: Promise<unknown> | undefined;

/** Builds the package where its sources have changed. */
export function buildPackage(): Promise<unknown> {
  built ??= run(process.execPath, ['scripts/build.mjs', '--if-changed'], { cwd: ROOT });
  return built;
}

const npm = async (cwd: string, ...args: string[]) => (await run('npm', args, { cwd })).stdout;

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

async function pack(folder: string): Promise<Packed> {
  await buildPackage();
  const packed = await npm(ROOT, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder);
  return (JSON.parse(packed) as [Packed])[0];
}

/** Builds and packs the package into a folder; resolves with the path of the tarball. */
export async function packPackage(folder: string): Promise<string> {
  return join(folder, (await pack(folder)).filename);
}

export async function installPackage(): Promise<Installed> {
  const project = mkdtempSync(join(tmpdir(), 'asg-package-'));
  const { filename, files, unpackedSize } = await pack(project);
  const tarball = join(project, filename);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  };
  write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const add = (...wanted: readonly string[]) => npm(project, 'install', ...flags, ...wanted);
  const pinned = (name: string): string => `${name}@${devDependencies[name]}`;
  await add(tarball);
  const plain = installedPackages(project);
  // A TypeScript project for Node has the types of Node; the package brings none.
  await add(pinned('@types/node'));
  return {
    project,
    tarball,
    files: files.map(({ path }) => path),
    bytes: unpackedSize,
    plain,
    write,
    install: async (...names) => void (await add(...names.map(pinned))),
    node: async (...args) => (await run(process.execPath, args, { cwd: project })).stdout,
    remove: () => rmSync(project, { recursive: true, force: true }),
  };
}

function installedPackages(project: string): Installed['plain'] {
  const folder = join(project, 'node_modules');
  const lock = JSON.parse(readFileSync(join(folder, '.package-lock.json'), 'utf8'));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return { packages: Object.keys(lock.packages), bytes };
}
