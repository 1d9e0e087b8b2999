import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { createGateway, defineApp, type Gateway } from '../../server/index.js';
import { needChromium, openPage } from '../support/browser.js';
import { buildPackage } from '../support/built-package.js';
import { compile } from '../support/compile.js';
import { ROOT } from '../support/program.js';
import { NAME, NAMES, pageOf } from './entries.js';

const run = promisify(execFile);
const CLIENT = `${NAME}-client`;

/** Entries of the client that need no framework, by their subpath in the package of the client alone. */
const ALONE = Object.entries(NAMES).flatMap(([entry, names]) => {
  const [, subpath] = /\/client(|\/.*)$/.exec(entry) ?? [];
  return subpath === undefined || /react|vue|svelte/.test(subpath)
    ? []
    : [[CLIENT + subpath, names] as const];
});

describe('the package of the client alone', () => {
  let project: string;
  let gateway: Gateway;
  let server: Server;
  let page = '';
  let url: string;

  before(async () => {
    await buildPackage();
    await run(process.execPath, ['scripts/build-client.mjs'], { cwd: ROOT });
    project = mkdtempSync(join(tmpdir(), 'asg-client-'));
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], {
      cwd: join(ROOT, '.cache/client'),
    });
    const [{ filename }] = JSON.parse(stdout);
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', ['install', ...flags, join(project, filename)], { cwd: project });
    const app = defineApp({
      async *run(turn) {
        yield `You said ${turn.text}`;
      },
    });
    gateway = createGateway({ app });
    server = createServer((request, response) => {
      if (request.url !== '/') return gateway.handleRequest(request, response);
      response.setHeader('content-type', 'text/html').end(`<script type="module">${page}</script>`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    await gateway?.close();
    server?.close();
    if (project !== undefined) rmSync(project, { recursive: true, force: true });
  });

  it('brings one package besides itself, and no server', () => {
    const lock = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
    expect(Object.keys(lock.packages)).to.have.members([
      `node_modules/${CLIENT}`,
      'node_modules/eventsource-parser',
    ]);
    const dist = join(project, 'node_modules', CLIENT, 'dist');
    expect(readdirSync(dist).sort()).to.deep.equal(['chunks', 'client', 'src']);
  });

  it('has the entries of the client, with their names', async () => {
    for (const [entry, names] of ALONE) {
      const { stdout } = await run(
        process.execPath,
        ['--input-type=module', '-e', `console.log(JSON.stringify(Object.keys(await import('${entry}'))))`],
        { cwd: project },
      );
      expect(JSON.parse(stdout), entry).to.include.members([...names]);
    }
  });

  it('talks to a gateway from Node', async () => {
    const program = `
      import { createClient } from '${CLIENT}';
      const client = createClient({ baseUrl: '${url}' });
      const { message } = await client.send('main', 'Hello').result;
      console.log(message.content[0].text);
      client.disconnect();`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: project });
    expect(stdout).to.equal('You said Hello\n');
  });

  it('talks to a gateway from a page', async function () {
    needChromium(this);
    const text = `
      import { createClient } from '${CLIENT}';
      const client = createClient({ baseUrl: location.origin });
      const { message } = await client.send('page', 'Hello').result;
      document.title = message.content[0].text;`;
    const { outputFiles } = await build({
      stdin: { contents: text, resolveDir: project },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
    });
    page = outputFiles[0]!.text;
    const { page: tab, problems } = await openPage(url);
    await tab.waitForFunction(() => document.title !== '');
    expect(await tab.title()).to.equal('You said Hello');
    expect(problems).to.deep.equal([]);
  });

  it('has types for a page', async () => {
    writeFileSync(join(project, 'page.ts'), pageOf(CLIENT));
    const options = { target: 'es2023', module: 'nodenext', types: [], strict: true, noEmit: true };
    const config = { compilerOptions: { ...options, lib: ['es2023', 'dom'] }, files: ['page.ts'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    expect(await compile('typescript', project)).to.equal('');
  });

  it('is clean to publint', async () => {
    const pkgDir = join(project, 'node_modules', CLIENT);
    const { messages } = await publint({ pkgDir, strict: true, pack: false });
    const manifest = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'));
    expect(messages.map((message) => formatMessage(message, manifest))).to.deep.equal([]);
  });
});
