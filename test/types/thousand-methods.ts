import { clientModule } from '../../server/codegen/client-module.js';

/**
 * `mixed`: namespaces two to four deep, like most. `deep`: six deep, with flat colon keys on every level. `generated`: the mixed
 * ones in a generated client, without the server.
 */
export type Shape = 'mixed' | 'deep' | 'generated';

const MODULES = 25;
const METHODS_PER_MODULE = 40;
const CALLS = 200;

/** The namespaces of a module's methods, by the index of the method; a key with a colon is a flat one. */
const PLACES: Readonly<Record<'mixed' | 'deep', readonly (readonly [from: number, ...keys: string[]])[]>> = {
  mixed: [[0], [20, 'inner'], [30, 'inner', 'deep'], [36, 'flat:']],
  deep: [
    [0],
    [6, 'a'],
    [11, 'a', 'flat:'],
    [14, 'a', 'b'],
    [18, 'a', 'b', 'c'],
    [22, 'a', 'b', 'c', 'flat:er:'],
    [25, 'a', 'b', 'c', 'd'],
    [36, 'flat:'],
  ],
};

/** The files of a project with a thousand methods: four in ten plain, four with a schema, one streaming, one without parameters. */
export async function projectFiles(shape: Shape): Promise<Readonly<Record<string, string>>> {
  const tree = shape === 'deep' ? 'deep' : 'mixed';
  const client = clientSource(tree, shape === 'generated');
  if (shape === 'generated') return { 'gateway.gen.ts': await generatedSource(), 'client.ts': client };
  const modules = Array.from({ length: MODULES }, (_, module) => [
    `modules/m${module}.ts`,
    moduleSource(tree, module),
  ]);
  return { ...Object.fromEntries(modules), 'server.ts': serverSource(), 'client.ts': client };
}

type Level = { readonly leaves: string[]; readonly inner: Map<string, Level> };

function moduleSource(tree: 'mixed' | 'deep', module: number): string {
  const root: Level = { leaves: [], inner: new Map() };
  for (let index = 0; index < METHODS_PER_MODULE; index += 1) {
    let level = root;
    let prefix = '';
    for (const key of keysOf(tree, index)) {
      if (key.endsWith(':')) prefix = key;
      else {
        const next = level.inner.get(key) ?? { leaves: [], inner: new Map() };
        level.inner.set(key, next);
        level = next;
      }
    }
    level.leaves.push(`'${prefix}f${index}': ${leafSource(module, index)}`);
  }
  return [
    `import { z } from 'zod';`,
    `import { method } from 'agent-session-gateway';`,
    `export const m${module} = ${levelSource(root)};`,
  ].join('\n');
}

function levelSource({ leaves, inner }: Level): string {
  const namespaces = [...inner].map(([key, level]) => `${key}: ${levelSource(level)}`);
  return `{\n${[...leaves, ...namespaces].join(',\n')}\n}`;
}

function keysOf(tree: 'mixed' | 'deep', index: number): readonly string[] {
  const [, ...keys] = PLACES[tree].findLast(([from]) => from <= index)!;
  return keys;
}

function leafSource(module: number, index: number): string {
  const field = `v${module}_${index}`;
  const kind = index % 10;
  if (kind < 4)
    return `async (params: { id: string; ${field}: number }) => ({ ok: true, ${field}: params.${field} })`;
  if (kind < 8) {
    const schema = `z.object({ id: z.string(), ${field}: z.number().optional(), tags: z.array(z.string()).default([]) })`;
    return `method({ schema: ${schema}, handler: async (params) => ({ id: params.id, ${field}: params.tags.length }) })`;
  }
  if (kind === 8) return `async function* (params: { id: string }) { yield { id: params.id, ${field}: 1 }; }`;
  return `async () => ({ ${field}: new Date() })`;
}

function serverSource(): string {
  const modules = Array.from({ length: MODULES }, (_, module) => module);
  return [
    ...modules.map((module) => `import { m${module} } from './modules/m${module}.js';`),
    `import { createGateway } from 'agent-session-gateway';`,
    `export const gateway = createGateway({ methods: { ${modules.map((module) => `m${module}`).join(', ')} } });`,
  ].join('\n');
}

async function generatedSource(): Promise<string> {
  const methods = Array.from({ length: MODULES * METHODS_PER_MODULE }, (_, at) => {
    const [module, index] = [Math.floor(at / METHODS_PER_MODULE), at % METHODS_PER_MODULE];
    const field = `v${module}_${index}`;
    const kind = index % 10;
    const id = { type: 'string' };
    const value = kind === 9 ? id : { type: 'number' };
    return {
      path: pathOf('mixed', module, index),
      stream: kind === 8,
      params: kind === 9 ? null : { type: 'object', properties: { id, [field]: value }, required: ['id'] },
      result: { type: 'object', properties: { [field]: value }, required: [field] },
    };
  });
  return (await clientModule({ version: 1, methods })).code;
}

function pathOf(tree: 'mixed' | 'deep', module: number, index: number): string {
  const scope = keysOf(tree, index).map((key) => (key.endsWith(':') ? key : `${key}:`));
  return `m${module}:${scope.join('')}f${index}`;
}

function clientSource(tree: 'mixed' | 'deep', generated: boolean): string {
  const calls = Array.from({ length: CALLS }, (_, call) => callSource(tree, call));
  const source = generated
    ? `import type { GatewayContract as Source } from './gateway.gen.js';`
    : `import type { gateway } from './server.js';\ntype Source = typeof gateway;`;
  return [
    `import { createClient } from 'agent-session-gateway/client';`,
    source,
    `const client = createClient<Source>({ baseUrl: '/agent' });`,
    ...calls,
  ].join('\n');
}

function callSource(tree: 'mixed' | 'deep', call: number): string {
  const module = call % MODULES;
  const index = (call * 7) % METHODS_PER_MODULE;
  const path = `'${pathOf(tree, module, index)}'`;
  const field = `v${module}_${index}`;
  const kind = index % 10;
  if (kind === 8)
    return `for await (const item of client.stream(${path}, { id: 'x' })) item.${field}.toFixed();`;
  if (kind === 9) return `(await client.invoke(${path})).${field}.toUpperCase();`;
  return `(await client.invoke(${path}, { id: 'x', ${field}: 1 })).${field}.toFixed();`;
}
