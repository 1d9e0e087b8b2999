import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build } from 'esbuild';
import { build as buildWithVite } from 'vite';
import { needRuntime, RUNTIMES } from '../platforms/runtimes.js';
import { describeDaily, isToday } from '../support/daily.js';
import { freePort } from '../support/free-port.js';
import { ROOT, runCommand } from '../support/program.js';
import { type Installed, installPackage } from './installed.js';

const run = promisify(execFile);

const PEERS = [
  ...['@modelcontextprotocol/node', '@modelcontextprotocol/server', '@redis/client', 'libsql'],
  ...['pg', 'prom-client'],
];
const ROLLUP = ['rollup@4.67.4', '@rollup/plugin-commonjs@29.0.3', '@rollup/plugin-node-resolve@16.0.3'].map(
  (wanted) => `${wanted.replace(/(?<=.)@.*/, '')}@npm:${wanted}`,
);
/** What has native code: bundlers leave it where it is. */
const external = ['libsql'];

/** What `talk.js` hears of the gateway of `gateway.js`, wherever they are built and run. */
const HEARD = {
  text: 'You said hello',
  doubled: 42,
  params: [
    ['double', ['n']],
    ['triple', ['n']],
  ],
  found: {
    ...{ '/v1/models': 200, '/playground/': 200, '/langgraph/ok': 200, '/metrics': 401 },
    ...{ '/mcp': 400, '/ag-ui': 405, '/api/chat': 405 },
    ...{ '/.well-known/agent-card.json': 200, '/vendor/sessions': 200 },
  },
};

describe('a program with each store and each plugin', () => {
  let installed: Installed;

  before(async () => {
    installed = await installPackage();
    await installed.install(...PEERS);
    cpSync(join(ROOT, 'test/package/bundled'), installed.project, { recursive: true });
  });
  after(() => installed?.remove());

  beforeEach(() => {
    for (const file of ['kept.db', 'kept.db-wal', 'kept.db-shm'])
      rmSync(join(installed.project, file), { force: true });
  });

  /** Runs the program and reads what it heard. */
  const hears = async (command: string, ...args: readonly string[]): Promise<unknown> => {
    const { stdout } = await run(command, [...args], { cwd: installed.project });
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  };

  it('runs as it is', async () => {
    expect(await hears(process.execPath, 'main.js')).to.deep.equal(HEARD);
  });

  it('runs on Bun, as it is and bundled', async function () {
    const bun = await needRuntime(this, RUNTIMES.bun);
    expect(await hears(bun, 'main.js')).to.deep.equal(HEARD);
    const args = ['build', 'main.js', '--target=bun', '--external=libsql', '--outdir=bun'];
    await run(bun, args, { cwd: installed.project });
    expect(await hears(bun, 'bun/main.js')).to.deep.equal(HEARD);
  });

  it('runs on Deno', async function () {
    const deno = await needRuntime(this, RUNTIMES.deno);
    expect(await hears(deno, 'run', '--no-lock', '--allow-all', 'main.js')).to.deep.equal(HEARD);
  });

  it('is built by esbuild', async () => {
    // Packages that are CommonJS require modules of Node.
    const js = "import { createRequire as of } from 'node:module'; const require = of(import.meta.url);";
    await build({
      absWorkingDir: installed.project,
      entryPoints: ['main.js'],
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile: 'esbuild/main.js',
      external,
      banner: { js },
    });
    expect(await hears(process.execPath, 'esbuild/main.js')).to.deep.equal(HEARD);
  });

  it('is built by Vite', async () => {
    await buildWithVite({
      root: installed.project,
      configFile: false,
      logLevel: 'warn',
      ssr: { noExternal: true, external },
      build: { ssr: 'main.js', outDir: 'vite' },
    });
    expect(await hears(process.execPath, 'vite/main.js')).to.deep.equal(HEARD);
  });

  it('is built by Rollup', async () => {
    await installed.install(...ROLLUP);
    await installed.node('node_modules/rollup/dist/bin/rollup', '--config', '--silent');
    expect(await hears(process.execPath, 'rollup/main.js')).to.deep.equal(HEARD);
  });

  describeDaily('in an application of Next with cacheComponents', 2, () => {
    for (const bundler of ['webpack', 'turbopack'])
      it(`is built by ${bundler}, beside a page with the client`, async function () {
        if (!isToday(2, 3)) this.skip();
        await installed.install('react', 'react-dom', 'next@npm:next@16.4.6');
        cpSync(join(installed.project, 'next'), installed.project, { recursive: true });
        const next = 'node_modules/next/dist/bin/next';
        rmSync(join(installed.project, '.next'), { recursive: true, force: true });
        await installed.node(next, 'build', `--${bundler}`);
        const port = String(await freePort());
        const args = [next, 'start', '--port', port, '--hostname', '127.0.0.1'];
        const env = { NODE_OPTIONS: '', NEXT_TELEMETRY_DISABLED: '1' };
        const program = runCommand(process.execPath, { args, cwd: installed.project, env, group: true });
        await program.prints(/Ready in/);
        const site = `http://127.0.0.1:${port}`;
        const { talk } = await import(pathToFileURL(join(installed.project, 'talk.js')).href);
        expect(await talk(`${site}/agent`), program.output).to.deep.equal(HEARD);
        expect(await (await fetch(site)).text()).to.contain('loading: 0');
        await program.kill('SIGTERM');
      });
  });
});
