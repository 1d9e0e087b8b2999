import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from '../support/built-package.js';
import { developedWith } from '../support/developed-with.js';
import { ROOT } from '../support/program.js';
import { closeAtLast } from '../support/resources.js';

const run = promisify(execFile);
const developed = developedWith();

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
  /** Installs packages in the versions that we develop with, or `alias@npm:name@version`. */
  install(...names: readonly string[]): Promise<void>;
  remove(): void;
}

const npm = async (cwd: string, ...args: string[]) => (await run('npm', args, { cwd })).stdout;

/** What npm says of a tarball. */
interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** A project that others are copies of. */
interface Template extends Pick<Installed, 'files' | 'bytes' | 'plain'> {
  readonly folder: string;
  /** Its name there. */
  readonly tarball: string;
}

let template: Promise<Template> | undefined;

/** Packs and installs once for all tests, which takes longer than most of them. */
function templateOf(): Promise<Template> {
  template ??= makeTemplate(
    closeAtLast(mkdtempSync(join(tmpdir(), 'asg-package-')), (folder) => {
      template = undefined;
      rmSync(folder, { recursive: true, force: true });
    }),
  );
  return template;
}

async function makeTemplate(folder: string): Promise<Template> {
  await buildPackage();
  const said = await packed(folder);
  const [{ filename: tarball, files, unpackedSize: bytes }] = JSON.parse(said) as [Packed];
  const manifest = { name: 'consumer', private: true, type: 'module' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  await add(folder, join(folder, tarball));
  const plain = installedPackages(folder);
  // A TypeScript project for Node has the types of Node; the package brings none.
  await add(folder, pinned('@types/node'));
  return { folder, tarball, files: files.map(({ path }) => path), bytes, plain };
}

/** Packs as `prepack` and `postpack` have it, but builds only what has changed. */
async function packed(folder: string): Promise<string> {
  const typesVersions = (...args: string[]) =>
    run(process.execPath, ['scripts/types-versions.mjs', ...args], { cwd: ROOT });
  await typesVersions();
  try {
    return await npm(ROOT, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder);
  } finally {
    await typesVersions('--away');
  }
}

const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
const add = (project: string, ...wanted: readonly string[]) => npm(project, 'install', ...FLAGS, ...wanted);
const pinned = (name: string): string => `${name}@${developed[name]}`;

/** Builds and packs the package into a folder; resolves with the path of the tarball. */
export async function packPackage(folder: string): Promise<string> {
  const packed = await templateOf();
  const tarball = join(folder, packed.tarball);
  copyFileSync(join(packed.folder, packed.tarball), tarball);
  return tarball;
}

export async function installPackage(): Promise<Installed> {
  const { folder, tarball, files, bytes, plain } = await templateOf();
  const project = mkdtempSync(join(tmpdir(), 'asg-package-'));
  cpSync(folder, project, { recursive: true, verbatimSymlinks: true });
  return {
    project,
    tarball: join(project, tarball),
    files,
    bytes,
    plain,
    write(name, text) {
      mkdirSync(dirname(join(project, name)), { recursive: true });
      writeFileSync(join(project, name), text);
    },
    install: async (...names) =>
      void (await add(project, ...names.map((name) => (name.includes('@npm:') ? name : pinned(name))))),
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
