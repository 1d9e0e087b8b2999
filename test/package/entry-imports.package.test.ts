import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { build } from 'esbuild';
import { buildPackage } from '../support/built-package.js';
import { ROOT } from '../support/program.js';

const { exports, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};
const isPeer = (name: string): boolean => Object.hasOwn(peerDependencies, name);
const nameOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The optional packages of each entry. Any other that it imports, at once or later, makes bundlers of those who have it not fail. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  './client/react': ['react'],
  './client/svelte': ['svelte'],
  './client/vue': ['vue'],
  './nest': ['@nestjs/common', '@nestjs/core'],
  './notices': ['web-push'],
  './telemetry': ['@opentelemetry/api'],
  './testing': ['@sinonjs/fake-timers'],
  './testing/stores': ['chai'],
  './apps/ai-sdk': ['ai'],
  './apps/a2a': ['@a2a-js/sdk'],
  './apps/ag-ui': ['@ag-ui/client'],
  './apps/agents': ['@openai/agents'],
  './apps/langgraph': ['@langchain/core', '@langchain/langgraph'],
  './apps/acp': ['@agentclientprotocol/sdk'],
  './apps/claude-agent': ['@anthropic-ai/claude-agent-sdk'],
  './apps/anthropic': ['@anthropic-ai/sdk'],
  './apps/openai': ['openai'],
  './stores/postgres': ['pg'],
  './stores/redis': ['@redis/client'],
  './stores/sqlite': ['libsql'],
  './plugins/mcp': ['@modelcontextprotocol/node', '@modelcontextprotocol/server'],
  './plugins/metrics': ['prom-client'],
};

/** The optional packages that a built file imports, itself or through others, each with the file that does. */
async function peersOf(file: string): Promise<ReadonlyMap<string, string>> {
  const { metafile } = await build({
    entryPoints: [join(ROOT, file)],
    absWorkingDir: ROOT,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const found = new Map<string, string>();
  for (const [path, { imports }] of Object.entries(metafile.inputs))
    for (const { path: imported, external } of imports)
      if (external && isPeer(nameOf(imported))) found.set(nameOf(imported), relative('dist', path));
  return found;
}

describe('the entries of the built package', () => {
  before(() => buildPackage());

  for (const [entry, { default: file }] of Object.entries(exports)) {
    if (file === undefined) continue;
    it(`${entry} imports no optional package but its own`, async () => {
      const foreign = [...(await peersOf(file))].filter(([name]) => !OWN[entry]?.includes(name));
      expect(foreign.map(([name, by]) => `${name}, by ${by}`)).to.deep.equal([]);
    });
  }

  it('import what this page knows of them, so that it looks where they are', async () => {
    for (const entry of ['./client/react', './apps/openai', './stores/postgres', './plugins/mcp'])
      expect([...(await peersOf(exports[entry]!.default!)).keys()].sort(), entry).to.deep.equal(OWN[entry]);
  });
});
