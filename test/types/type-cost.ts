import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildPackage } from '../support/built-package.js';
import { projectFiles, type Shape } from './thousand-methods.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** What the checker reported about a project. */
export interface TypeCost {
  readonly instantiations: number;
  readonly checkSeconds: number;
}

/**
 * Writes a project of a thousand methods and two hundred calls, checks it with the main compiler and reports its type
 * instantiations, a number that is the same on every machine, and the time, which is not.
 *
 * @throws whatever the compiler says, when the project does not compile.
 */
export async function measureTypeCost(shape: Shape): Promise<TypeCost> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-types-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    await buildPackage();
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    await writeFiles(folder, await projectFiles(shape));
    const { stdout } = await run(process.execPath, [
      compiler,
      '-p',
      folder,
      '--extendedDiagnostics',
      '--singleThreaded',
    ]);
    return {
      instantiations: Number(/^Instantiations:\s+(\d+)/m.exec(stdout)?.[1]),
      checkSeconds: Number(/^Check time:\s+([\d.]+)s/m.exec(stdout)?.[1]),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Users check their code against the package's declarations, not its sources: the build writes these. */
const DECLARATIONS = join(ROOT, '.cache/types');

async function writeFiles(folder: string, sources: Readonly<Record<string, string>>): Promise<void> {
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      types: ['node'],
      noUnusedLocals: false,
      paths: {
        'agent-session-gateway': [join(DECLARATIONS, 'server/index.d.ts')],
        'agent-session-gateway/client': [join(DECLARATIONS, 'client/index.d.ts')],
      },
    },
    include: ['*.ts', 'modules'],
  };
  await mkdir(join(folder, 'modules'));
  const files = {
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify(config),
    ...sources,
  };
  await Promise.all(Object.entries(files).map(([path, text]) => writeFile(join(folder, path), text)));
}
