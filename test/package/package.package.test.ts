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
import { CONSUMER, NAME, NAMES, NEEDS } from './entries.js';
import { type Installed, installPackage } from './installed.js';

const run = promisify(execFile);

/** What a plain install may bring, this package and all that it depends on. */
const MAX_PACKAGES = 35;
const MAX_BYTES = 20_000_000;
/** What this package alone may have. */
const OWN = { files: 515, bytes: 12_100_000 };

/** Runs Node in the repository. */
const nodeHere = async (...args: string[]) => (await run(process.execPath, args, { cwd: ROOT })).stdout;

describe('the packed package', () => {
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
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'conformance',
      'deploy',
      'dist',
      'docs',
      'examples',
      'package.json',
      'python',
      'skills',
      'templates',
    ]);
    const odd = installed.files.filter(
      (path) =>
        path.startsWith('dist/') &&
        !/^dist\/(?:(?:server|client|shared|testing|chunks)\/.*(?:\.js|\.d\.ts(?:\.map)?)|src\/(?:server\/[\w-]+|server|client|shared|testing)\.ts|playground\/(?:index\.html|licenses\.md|_playground\/[\w-]+\.(?:js|css|webmanifest)))$/.test(
          path,
        ),
    );
    expect(odd).to.deep.equal([]);
  });

  it('is a few hundred files, and small', () => {
    expect(installed.files.length).to.be.at.most(OWN.files);
    expect(installed.bytes).to.be.at.most(OWN.bytes);
  });

  it('maps its types onto sources that are in it', () => {
    const files = new Set(installed.files);
    const built = installed.files.filter((path) => path.endsWith('.d.ts'));
    expect(built.length).to.be.above(30);
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
      ['dist/src/client.ts', 'export function createClient(options: ClientOptions): Client;'],
    ]);
  });

  it('exports the names of the design, to import and to require', async () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const entries = Object.keys(exports)
      .filter((path) => path !== './package.json')
      .map((path) => NAME + path.slice(1));
    expect(entries).to.have.members(Object.keys(NAMES));
    // What needs a peer is looked at where there is one: in the repository, whose package refers to itself.
    const [here, there] = [
      entries.filter((entry) => entry in NEEDS),
      entries.filter((entry) => !(entry in NEEDS)),
    ];
    const found = 'console.log(JSON.stringify(found))';
    for (const [node, among] of [
      [nodeHere, here],
      [installed.node, there],
    ] as const) {
      const named = JSON.stringify(among);
      const imports = `const found = {}; for (const name of ${named}) found[name] = Object.keys(await import(name));`;
      const requires = `const found = {}; for (const name of ${named}) found[name] = Object.keys(require(name));`;
      const imported = JSON.parse(await node('--input-type=module', '-e', `${imports} ${found}`));
      const required = JSON.parse(await node('--input-type=commonjs', '-e', `${requires} ${found}`));
      for (const entry of among) {
        expect(imported[entry], entry).to.include.members([...NAMES[entry]!]);
        expect(imported[entry], entry).to.not.include('default');
        expect(required[entry], entry).to.include.members([...NAMES[entry]!]);
      }
    }
  });

  it('serves the playground, with the files that it names', async () => {
    const use = `
      import { createGateway, defineApp } from '${NAME}';
      import { playgroundPlugin } from '${NAME}/plugins/playground';
      const gateway = createGateway({ port: 0, app: defineApp({ async *run() {} }) }).use(playgroundPlugin({ path: '/' }));
      const { url } = await gateway.start();
      const html = await (await fetch(url + '/')).text();
      const files = [...html.matchAll(/(?:src|href)="\\.\\/([^"]+)"/g)].map(([, path]) => path);
      const found = await Promise.all(files.map(async (path) => (await fetch(url + '/' + path)).status));
      console.log(JSON.stringify(found));
      await gateway.close();`;
    expect(JSON.parse(await installed.node('--input-type=module', '-e', use))).to.deep.equal(
      Array.from({ length: 5 }, () => 200),
    );
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

  it('says where the types of each entry are to a compiler that reads no exports', () => {
    const {
      exports,
      scripts,
      typesVersions: kept,
    } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const pkgDir = join(installed.project, 'node_modules', NAME);
    const { typesVersions } = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'));
    const entries = Object.entries<{ types: string }>(exports).filter(
      ([path]) => path !== '.' && path !== './package.json',
    );
    expect(typesVersions['*']).to.deep.equal(
      Object.fromEntries(entries.map(([path, { types }]) => [path.slice(2), [types]])),
    );
    expect(kept, 'a second list of the entries').to.equal(undefined);
    expect([scripts.prepack, scripts.postpack].join()).to.match(
      /types-versions\.mjs,.*types-versions\.mjs --away$/,
    );
  });

  it('is clean to publint', async () => {
    const pkgDir = join(installed.project, 'node_modules', NAME);
    const { messages } = await publint({ pkgDir, strict: true, pack: false });
    const manifest = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'));
    expect(messages.map((message) => formatMessage(message, manifest))).to.deep.equal([]);
  });

  it('is clean to are-the-types-wrong', async () => {
    const attw = join(ROOT, 'test/node_modules/@arethetypeswrong/cli/dist/index.js');
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
    installed.write('consumer.ts', CONSUMER);
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
        (path) =>
          !/^(?:page\.ts|client\/|chunks\/(?:shared|client)\.js|node_modules\/eventsource-parser\/)/.test(
            path,
          ),
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
