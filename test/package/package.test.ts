import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { ROOT, runCommand } from '../support/program.js';
import { type Installed, installPackage } from './installed.js';

const run = promisify(execFile);
const NAME = 'agent-session-gateway';

/** Values that programs of others are written against. */
const NAMES: Record<string, readonly string[]> = {
  [NAME]: [
    'createGateway',
    'Gateway',
    'gatewayMiddleware',
    'defineApp',
    'tool',
    'toolResult',
    'method',
    'getContext',
    'formatSessionKey',
    'parseSessionKey',
    'GatewayError',
    'GuardError',
    'isGatewayError',
    'isGuardError',
    'PROTOCOL_VERSION',
    'memoryStore',
    'createInProcessTransport',
  ],
  [`${NAME}/client/node`]: ['createUnixSocketClientTransport'],
  [`${NAME}/client`]: [
    'createClient',
    'sseTransport',
    'webSocketTransport',
    'initialState',
    'reduce',
    'isTerminal',
    'GatewayError',
  ],
  [`${NAME}/protocol`]: [
    'OPERATIONS',
    'operationSchemas',
    'ERROR_TABLE',
    'parseCursor',
    'SseDecoder',
    'reduce',
  ],
  [`${NAME}/stores/sqlite`]: ['sqliteStore'],
  [`${NAME}/plugins/chat-completions`]: ['chatCompletionsPlugin'],
};

const CONSUMER = `
import { createServer } from 'node:http';
import { createGateway, defineApp, gatewayMiddleware, type GatewayConfig, method, type Turn } from '${NAME}';
import { createClient, type Client } from '${NAME}/client';
import { type GatewayEvent, reduce, initialState } from '${NAME}/protocol';
import { z } from 'zod';

const app = defineApp({ async *run(turn: Turn) { yield turn.text; } });
const methods = { tasks: { archive: method({ schema: z.object({ before: z.iso.date() }), handler: async () => ({ n: 1 }) }) } };
export const gateway = createGateway({ app, methods });
export const router = gatewayMiddleware({ app, methods });
createServer((request, response) => gateway.handleRequest(request, response));
const client: Client<typeof router> = createClient<typeof router>({ baseUrl: '/agent' });
const { n } = await client.invoke('tasks:archive', { before: '2026-01-01' });
export const doubled: number = n * 2;
// @ts-expect-error: no such path
await client.invoke('tasks:nothing');
// @ts-expect-error: before is a text
await client.invoke('tasks:archive', { before: 1 });
export const fold = (events: GatewayEvent[]) => events.reduce(reduce, initialState);
export const config: GatewayConfig = { app };
`;

describe('the packed package', function () {
  this.timeout(120_000);
  let installed: Installed;

  before(async () => {
    installed = await installPackage();
  });
  after(() => installed?.remove());

  it('holds what it should and nothing else', () => {
    const top = new Set(installed.files.map((path) => path.split('/')[0]));
    expect([...top].sort()).to.deep.equal([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'docs',
      'package.json',
    ]);
    const odd = installed.files.filter(
      (path) =>
        path.startsWith('dist/') && !/^dist\/(?:server|client|shared)\/.*\.(?:js|js\.map|d\.ts)$/.test(path),
    );
    expect(odd).to.deep.equal([]);
  });

  it('exports the names of the design, to import and to require', async () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const entries = Object.keys(exports)
      .filter((path) => path !== './package.json')
      .map((path) => NAME + path.slice(1));
    expect(entries).to.have.members(Object.keys(NAMES));
    for (const entry of entries) {
      const imported = await installed.node(
        '--input-type=module',
        '-e',
        `console.log(JSON.stringify(Object.keys(await import('${entry}'))))`,
      );
      expect(JSON.parse(imported)).to.include.members([...NAMES[entry]!]);
      expect(JSON.parse(imported)).to.not.include('default');
      const required = await installed.node(
        '--input-type=commonjs',
        '-e',
        `console.log(JSON.stringify(Object.keys(require('${entry}'))))`,
      );
      expect(JSON.parse(required)).to.include.members([...NAMES[entry]!]);
    }
  });

  for (const [version, compiler] of [
    ['7', 'typescript'],
    ['5.9', 'typescript5'],
  ] as const) {
    it(`type-checks a page's code without the types of Node with TypeScript ${version}`, async () => {
      installed.write(
        'page.ts',
        `import { createClient, type GatewayEvent } from '${NAME}/client';
export const seen: GatewayEvent[] = [];
for await (const event of createClient({ baseUrl: '/agent' }).events('main')) seen.push(event);`,
      );
      const options = {
        target: 'es2023',
        lib: ['es2023', 'dom', 'dom.iterable'],
        module: 'nodenext',
        types: [],
        strict: true,
        noEmit: true,
      };
      installed.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['page.ts'] }));
      const tsc = join(ROOT, 'node_modules', compiler, 'bin/tsc');
      const { stdout } = await run(process.execPath, [tsc, '-p', installed.project]).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout).to.equal('');
    });

    it(`type-checks in an empty project with TypeScript ${version}`, async () => {
      installed.write('consumer.ts', CONSUMER);
      const options = {
        target: 'es2023',
        lib: ['es2023', 'dom', 'dom.iterable'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        noEmit: true,
      };
      installed.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['consumer.ts'] }));
      const tsc = join(ROOT, 'node_modules', compiler, 'bin/tsc');
      const { stdout } = await run(process.execPath, [tsc, '-p', installed.project]).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout).to.equal('');
    });
  }

  it('is clean to publint', async () => {
    const pkgDir = join(installed.project, 'node_modules', NAME);
    const { messages } = await publint({ pkgDir, strict: true, pack: false });
    const manifest = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'));
    expect(messages.map((message) => formatMessage(message, manifest))).to.deep.equal([]);
  });

  it('is clean to are-the-types-wrong', async () => {
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const { stdout } = await run(process.execPath, [
      attw,
      installed.tarball,
      '--profile',
      'esm-only',
      '--no-color',
    ]).catch((error: { stdout: string }) => ({ stdout: `failed\n${error.stdout}` }));
    expect(stdout)
      .to.contain('node16 (from ESM): 🟢')
      .and.not.match(/^failed/);
  });

  it('says in a browser that it is the server', async () => {
    const failure = await installed
      .node('--conditions=browser', '--input-type=module', '-e', `await import('${NAME}')`)
      .catch((error: { stderr: string }) => error.stderr);
    expect(failure).to.contain("can't run in a browser; import 'agent-session-gateway/client'");
  });

  it('leaves no server code in a bundle that imports its types', async () => {
    installed.write(
      'page.ts',
      `import { createClient } from '${NAME}/client';
import type { gateway } from './consumer.js';
export const client = createClient<typeof gateway>({ baseUrl: '/agent' });`,
    );
    const { metafile } = await build({
      absWorkingDir: installed.project,
      entryPoints: ['page.ts'],
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
    });
    const inputs = Object.keys(metafile.inputs).map((path) => path.replace(`node_modules/${NAME}/dist/`, ''));
    expect(
      inputs.filter(
        (path) => !/^(?:page\.ts|(?:client|shared)\/|node_modules\/eventsource-parser\/)/.test(path),
      ),
    ).to.deep.equal([]);
  });

  it('names the optional package that is missing', async () => {
    const demo = runCommand(process.execPath, {
      args: [`node_modules/${NAME}/dist/server/demo/main.js`],
      cwd: installed.project,
      env: { PORT: '0', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_MODEL: 'tiny' },
    });
    expect(await demo.exited).to.equal(1);
    expect(demo.output).to.equal('OPENAI_BASE_URL needs the package openai: npm install openai\n');
  });
});
