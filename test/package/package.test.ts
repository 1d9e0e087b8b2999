import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { ROOT, runCommand } from '../support/program.js';
import { definitions } from './editor.js';
import { type Installed, installPackage } from './installed.js';

const run = promisify(execFile);
const NAME = 'agent-session-gateway';

/** What a plain install may bring, this package and all that it depends on. */
const MAX_PACKAGES = 35;
const MAX_BYTES = 20_000_000;

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
  [`${NAME}/client/react`]: ['GatewayProvider', 'useGateway', 'useSession', 'gatewayHooks'],
  [`${NAME}/client/vue`]: ['GATEWAY', 'useGateway', 'useSession', 'useConnection'],
  [`${NAME}/client/svelte`]: ['liveSession', 'liveConnection'],
  [`${NAME}/protocol`]: [
    'OPERATIONS',
    'operationSchemas',
    'ERROR_TABLE',
    'parseCursor',
    'SseDecoder',
    'reduce',
  ],
  [`${NAME}/apps/ai-sdk`]: ['aiSdkApp', 'toModelMessages', 'fromModelMessages'],
  [`${NAME}/apps/openai`]: ['openaiApp', 'toChatMessages', 'fromChatMessages'],
  [`${NAME}/stores/sqlite`]: ['sqliteStore'],
  [`${NAME}/nest`]: [
    'GatewayModule',
    'GatewayService',
    'GatewayController',
    'GatewayErrorFilter',
    'GATEWAY',
    'GATEWAY_APP',
    'getAppToken',
  ],
  [`${NAME}/apps/agents`]: ['agentsApp', 'toAgentItems', 'fromAgentItems'],
  [`${NAME}/apps/langgraph`]: ['langGraphApp', 'toLangGraphMessages', 'fromLangGraphMessages'],
  [`${NAME}/plugins/mcp`]: ['mcpServerPlugin'],
  [`${NAME}/plugins/chat-completions`]: ['chatCompletionsPlugin'],
};

/** Entries that are of no use without an optional peer and import it at once. */
const NEEDS: Record<string, string> = {
  [`${NAME}/nest`]: '@nestjs/common',
  [`${NAME}/client/react`]: 'react',
  [`${NAME}/client/vue`]: 'vue',
  [`${NAME}/client/svelte`]: 'svelte',
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

/** Runs Node in the repository. */
const nodeHere = async (...args: string[]) => (await run(process.execPath, args, { cwd: ROOT })).stdout;

/** What a compiler has to say of a project. */
async function compile(compiler: string, project: string): Promise<string> {
  const tsc = join(ROOT, 'node_modules', compiler, 'bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', project]).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

describe('the packed package', function () {
  this.timeout(120_000);
  let installed: Installed;

  before(async () => {
    installed = await installPackage();
  });
  after(() => installed?.remove());

  it('brings few packages and little to a plain install', () => {
    const { packages, bytes } = installed.plain;
    expect(packages).to.include.members(['node_modules/agent-session-gateway', 'node_modules/zod']);
    expect(packages.length, packages.join('\n')).to.be.at.most(MAX_PACKAGES);
    expect(bytes).to.be.at.most(MAX_BYTES);
  });

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
        path.startsWith('dist/') &&
        !/^dist\/(?:(?:server|client|shared)\/.*\.(?:js|d\.ts)(?:\.map)?|src\/(?:server|client|shared)\/.*\.ts)$/.test(
          path,
        ),
    );
    expect(odd).to.deep.equal([]);
  });

  it('maps what it was built to onto sources that are in it', () => {
    const files = new Set(installed.files);
    const built = installed.files.filter((path) => /^dist\/(?!src\/).*\.(?:js|d\.ts)$/.test(path));
    expect(built.length).to.be.above(100);
    for (const path of built) {
      const map = JSON.parse(
        readFileSync(join(installed.project, 'node_modules', NAME, `${path}.map`), 'utf8'),
      );
      for (const source of map.sources as string[])
        expect(files.has(posix.join(posix.dirname(path), source)), `${path}: ${source}`).to.equal(true);
    }
  });

  it('leads an editor from a name to its source', async () => {
    const text = `import { createGateway } from '${NAME}';\nimport { createClient } from '${NAME}/client';\nvoid [createGateway, createClient];\n`;
    installed.write('jump.ts', text);
    const options = { module: 'nodenext', target: 'es2023' };
    installed.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['jump.ts'] }));
    const jumps = await definitions(join(installed.project, 'jump.ts'), [
      { line: 1, offset: 12 },
      { line: 2, offset: 12 },
    ]);
    const root = join(installed.project, 'node_modules', NAME);
    expect(jumps.map(({ file, text: line }) => [relative(realpathSync(root), file), line])).to.deep.equal([
      ['dist/src/server/gateway.ts', 'export function createGateway<'],
      ['dist/src/client/client.ts', 'export function createClient(options: ClientOptions): Client;'],
    ]);
  });

  it('exports the names of the design, to import and to require', async () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const entries = Object.keys(exports)
      .filter((path) => path !== './package.json')
      .map((path) => NAME + path.slice(1));
    expect(entries).to.have.members(Object.keys(NAMES));
    for (const entry of entries) {
      // What needs a peer is looked at where there is one: in the repository, whose package refers to itself.
      const node = entry in NEEDS ? nodeHere : installed.node;
      const imported = await node(
        '--input-type=module',
        '-e',
        `console.log(JSON.stringify(Object.keys(await import('${entry}'))))`,
      );
      expect(JSON.parse(imported)).to.include.members([...NAMES[entry]!]);
      expect(JSON.parse(imported)).to.not.include('default');
      const required = await node(
        '--input-type=commonjs',
        '-e',
        `console.log(JSON.stringify(Object.keys(require('${entry}'))))`,
      );
      expect(JSON.parse(required)).to.include.members([...NAMES[entry]!]);
    }
  });

  it('imports no optional package until it is used', async () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const optional = [...Object.keys(peerDependencies), 'rxjs', 'reflect-metadata'];
    const found = await installed.node(
      '--input-type=commonjs',
      '-e',
      `const found = ${JSON.stringify(optional)}.filter((name) => {
        try { return require.resolve(name); } catch (error) { return error.code !== 'MODULE_NOT_FOUND'; }
      });
      console.log(JSON.stringify(found))`,
    );
    expect(JSON.parse(found)).to.deep.equal([]);
    const use = `
      import { createGateway, defineApp } from '${NAME}';
      import { createClient } from '${NAME}/client';
      const gateway = createGateway({ port: 0, app: defineApp({ async *run(turn) { yield turn.text; } }) });
      const { url } = await gateway.start();
      const client = createClient({ baseUrl: url });
      const { message } = await client.send('main', 'alone').result;
      const { draining } = await (await gateway.fetch(new Request(url + '/status'))).json();
      console.log(JSON.stringify([message.content[0].text, draining]));
      client.disconnect();
      await gateway.close();`;
    expect(JSON.parse(await installed.node('--input-type=module', '-e', use))).to.deep.equal([
      'alone',
      false,
    ]);
    for (const [entry, name] of Object.entries(NEEDS)) {
      const refused = await installed
        .node('--input-type=module', '-e', `await import('${entry}')`)
        .catch((error: { stderr: string }) => error.stderr);
      expect(refused).to.contain('ERR_MODULE_NOT_FOUND').and.to.contain(`Cannot find package '${name}'`);
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

  for (const compiler of ['typescript', 'typescript5']) {
    it(`type-checks in a project for Node without the DOM library with ${compiler}`, async () => {
      installed.write(
        'server-only.ts',
        `import { createGateway, gatewayMiddleware } from '${NAME}';
import { createClient } from '${NAME}/client';
import { createUnixSocketClientTransport } from '${NAME}/client/node';
import { chatCompletionsPlugin } from '${NAME}/plugins/chat-completions';
import { type GatewayEvent, reduce } from '${NAME}/protocol';
import { sqliteStore } from '${NAME}/stores/sqlite';
const app = { async *run() { yield 'x'; } };
export const gateway = createGateway({ app, store: sqliteStore({ path: 'x.db' }) }).use(chatCompletionsPlugin());
export const router = gatewayMiddleware({ app });
export const clients = [
  createClient<typeof gateway>({ baseUrl: 'http://127.0.0.1', credentials: 'include' }),
  createClient({ transport: createUnixSocketClientTransport({ socketPath: '/x' }) }),
];
export const fold: (state: Parameters<typeof reduce>[0], event: GatewayEvent) => typeof state = reduce;`,
      );
      const options = {
        target: 'es2023',
        lib: ['es2023'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        skipLibCheck: false,
        noEmit: true,
      };
      installed.write(
        'tsconfig.json',
        JSON.stringify({ compilerOptions: options, files: ['server-only.ts'] }),
      );
      expect(await compile(compiler, installed.project)).to.equal('');
    });
  }

  // TypeScript 7 knows this way of finding modules no more.
  it('type-checks as CommonJS with moduleResolution node10, every entry, and runs', async () => {
    const entries = Object.keys(NAMES).filter((entry) => !(entry in NEEDS));
    const imports = entries.map((entry, at) => `import * as entry${at} from '${entry}';`);
    const uses = entries.map((entry, at) => `${JSON.stringify(entry)}: Object.keys(entry${at}).length`);
    installed.write('old/package.json', '{"type":"commonjs"}');
    installed.write(
      'old/main.ts',
      `${imports.join('\n')}
import { createGateway, method } from '${NAME}';
import { createClient } from '${NAME}/client';
const gateway = createGateway({ app: { run: () => 'x' }, methods: { ping: method({ handler: async () => ({ n: 1 }) }) } });
export const call = async (): Promise<number> => (await createClient<typeof gateway>({ baseUrl: '/' }).invoke('ping')).n;
console.log(JSON.stringify({ ${uses.join(', ')} }));`,
    );
    const options = {
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.iterable'],
      module: 'commonjs',
      moduleResolution: 'node10',
      esModuleInterop: true,
      types: ['node'],
      typeRoots: ['../node_modules/@types'],
      strict: true,
      // The types of optional peers, which this project has none of, are looked for in vain.
      skipLibCheck: true,
      outDir: '.',
      ignoreDeprecations: '5.0',
    };
    installed.write('old/tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['main.ts'] }));
    expect(await compile('typescript5', join(installed.project, 'old'))).to.equal('');
    const names = JSON.parse(await installed.node('old/main.js')) as Record<string, number>;
    for (const entry of entries) expect(names[entry], entry).to.be.at.least(NAMES[entry]!.length);
  });

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
    expect(demo.output).to.equal('openaiApp needs the package openai: npm install openai\n');
  });

  it('names it in the run of an app that needs it', async () => {
    const said = await installed.node(
      '--input-type=module',
      '-e',
      `import { createGateway } from '${NAME}';
import { aiSdkApp } from '${NAME}/apps/ai-sdk';
import { openaiApp } from '${NAME}/apps/openai';
const apps = { ai: aiSdkApp({ model: 'x' }), chat: openaiApp({ model: 'x' }) };
const gateway = createGateway({ apps, defaultApp: 'ai', port: 0, logger: { warn() {}, error() {} } });
for (const name of ['ai:a', 'chat:a']) console.log((await gateway.session(name).send('Hi').result).error.message);
await gateway.close();`,
    );
    expect(said).to.equal(
      'aiSdkApp needs the package ai: npm install ai\nopenaiApp needs the package openai: npm install openai\n',
    );
  });

  it('says which package an app adapter needs, and loads none before', async () => {
    const printed = await installed.node(
      '--input-type=module',
      '-e',
      `import { createGateway } from '${NAME}';
       import { agentsApp } from '${NAME}/apps/agents';
       const gateway = createGateway({ app: agentsApp({ agent: {} }), port: 0 });
       await gateway.start();
       const { error } = await gateway.session('main', { anonymous: true }).send('Hi').result;
       console.log(error.message);
       await gateway.close();`,
    );
    expect(printed).to.equal('agentsApp needs the package @openai/agents: npm install @openai/agents zod\n');
  });
});
