import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What the checker reported about a project. */
export interface TypeCost {
  readonly instantiations: number;
}

const MODULES = 25;
const METHODS_PER_MODULE = 40;
const CALLS = 200;

/**
 * Writes a project of a thousand methods and two hundred calls, checks it with the main compiler and reports its type
 * instantiations: a number that is the same on every machine.
 *
 * @throws whatever the compiler says, when the project does not compile.
 */
export async function measureTypeCost(): Promise<TypeCost> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-types-'));
  try {
    await mkdir(join(folder, 'modules'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    await emitDeclarations(compiler, join(folder, 'package'));
    await writeFiles(folder);
    const { stdout } = await promisify(execFile)(process.execPath, [
      compiler,
      '-p',
      folder,
      '--extendedDiagnostics',
      '--singleThreaded',
    ]);
    return { instantiations: Number(/^Instantiations:\s+(\d+)/m.exec(stdout)?.[1]) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Users check their code against the package's declarations, not its sources. */
async function emitDeclarations(compiler: string, folder: string): Promise<void> {
  const options = [
    '-p',
    join(ROOT, 'tsconfig.build.json'),
    '--emitDeclarationOnly',
    '--declarationMap',
    'false',
  ];
  await promisify(execFile)(process.execPath, [compiler, ...options, '--outDir', folder]);
}

async function writeFiles(folder: string): Promise<void> {
  const files: Record<string, string> = {
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { types: ['node'], noUnusedLocals: false },
      include: ['server.ts', 'client.ts', 'modules'],
      exclude: [],
    }),
    'server.ts': serverSource(JSON.stringify('./package/server/index.js')),
    'client.ts': clientSource(JSON.stringify('./package/client/index.js')),
  };
  for (let module = 0; module < MODULES; module += 1) {
    const path = `modules/m${module}.ts`;
    files[path] = moduleSource(module, JSON.stringify('../package/server/index.js'));
  }
  await Promise.all(Object.entries(files).map(([path, text]) => writeFile(join(folder, path), text)));
}

/** Four in ten plain functions, four with a schema, one streaming, one without parameters; depth two to four; flat keys. */
function moduleSource(module: number, methodImport: string): string {
  const leaves = Array.from({ length: METHODS_PER_MODULE }, (_, index) => leafSource(module, index));
  const group = (from: number, to: number) => leaves.slice(from, to).join('\n');
  return [
    `import { z } from 'zod';`,
    `import { method } from ${methodImport};`,
    `export const m${module} = {`,
    group(0, 20),
    `  inner: {\n${group(20, 30)}\n    deep: {\n${group(30, 36)}\n    },\n  },`,
    group(36, 40).replace(/^ {2}(f\d+)/gm, `  'flat:$1'`),
    '};',
  ].join('\n');
}

function leafSource(module: number, index: number): string {
  const field = `v${module}_${index}`;
  const kind = index % 10;
  if (kind < 4)
    return `  f${index}: async (params: { id: string; ${field}: number }) => ({ ok: true, ${field}: params.${field} }),`;
  if (kind < 8) {
    const schema = `z.object({ id: z.string(), ${field}: z.number().optional(), tags: z.array(z.string()).default([]) })`;
    return `  f${index}: method({ schema: ${schema}, handler: async (params) => ({ id: params.id, ${field}: params.tags.length }) }),`;
  }
  if (kind === 8)
    return `  f${index}: async function* (params: { id: string }) { yield { id: params.id, ${field}: 1 }; },`;
  return `  f${index}: async () => ({ ${field}: new Date() }),`;
}

function serverSource(gatewayImport: string): string {
  const modules = Array.from({ length: MODULES }, (_, module) => module);
  return [
    ...modules.map((module) => `import { m${module} } from './modules/m${module}.js';`),
    `import { createGateway } from ${gatewayImport};`,
    `export const gateway = createGateway({ methods: { ${modules.map((module) => `m${module}`).join(', ')} } });`,
  ].join('\n');
}

function clientSource(clientImport: string): string {
  const calls = Array.from({ length: CALLS }, (_, call) => callSource(call));
  return [
    `import { createClient } from ${clientImport};`,
    `import type { gateway } from './server.js';`,
    `const client = createClient<typeof gateway>({ baseUrl: '/agent' });`,
    ...calls,
  ].join('\n');
}

function callSource(call: number): string {
  const module = call % MODULES;
  const index = (call * 7) % METHODS_PER_MODULE;
  const scope = index < 20 ? '' : index < 30 ? 'inner:' : index < 36 ? 'inner:deep:' : 'flat:';
  const path = `'m${module}:${scope}f${index}'`;
  const field = `v${module}_${index}`;
  const kind = index % 10;
  if (kind === 8)
    return `for await (const item of client.stream(${path}, { id: 'x' })) item.${field}.toFixed();`;
  if (kind === 9) return `(await client.invoke(${path})).${field}.toUpperCase();`;
  return `(await client.invoke(${path}, { id: 'x', ${field}: 1 })).${field}.toFixed();`;
}
