// test-peers.mjs [--oldest] [NAME]: runs the adapters' tests, and type-checks a program of their users, with the newest version of each
// optional peer, or the oldest (peers/versions.mjs). They are installed from npm below .cache/peers, and used again. Ends with the numbers of all.
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { install as installFolder } from './installed.mjs';
import { failuresOf, resultOf, summaryOf } from './peers/results.mjs';
import { PEERS } from './peers/versions.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NAME = 'agent-session-gateway';
/** Legs at the same time, as mocha's files. */
const JOBS = 2;
const MOCHA = 'node_modules/mocha/bin/mocha.js';

function versionIn(folder, name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/** Runs a command to its end, which may be any. */
function ended(command, args, options) {
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options },
      (error, stdout, stderr) => {
        resolve({ stdout: stdout + stderr, status: error ? (error.code ?? 1) : 0 });
      },
    );
  });
}

async function install(folder, packages, own = []) {
  // What a user's project has besides, as it is here: our own dependency, and the types of Node.
  const ours = ['zod', '@types/node'].map((name) => [name, versionIn(ROOT, name)]);
  const dependencies = { ...packages, ...Object.fromEntries(ours) };
  const project = JSON.stringify({ private: true, type: 'module', dependencies });
  const done = join(folder, 'installed.json');
  if (existsSync(done) && readFileSync(done, 'utf8') === project) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), project);
  const flags = [
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...own,
  ];
  const { stdout, status } = await ended('npm', ['install', ...flags], { cwd: folder });
  if (status !== 0) throw new Error(`npm install failed in ${folder}\n${stdout}`);
  writeFileSync(done, project);
}

async function runTests(folder, { tests }, { install: packages, node = 20 }) {
  const redirect = pathToFileURL(join(ROOT, 'scripts/peers/redirect.mjs')).href;
  const env = {
    ...process.env,
    PEERS: folder,
    PEER_NAMES: Object.keys(packages).join(),
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${redirect}`,
  };
  const ran = await ended(process.execPath, ['scripts/on-node.mjs', String(node), MOCHA, tests], {
    cwd: ROOT,
    env,
  });
  return { ...resultOf(ran), failures: failuresOf(ran), said: ran.stdout };
}

async function checkTypes(folder, { types }) {
  writeFileSync(join(folder, 'user.ts'), types);
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    // Theirs are not ours to check.
    skipLibCheck: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['user.ts'] }));
  const installed = join(folder, 'node_modules', NAME);
  rmSync(installed, { recursive: true, force: true });
  cpSync(join(ROOT, 'dist'), join(installed, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'));
  const results = [];
  for (const compiler of ['node_modules/typescript', 'test/node_modules/typescript5']) {
    const tsc = join(ROOT, compiler, 'bin/tsc');
    const { stdout, status } = await ended(process.execPath, [tsc, '-p', folder]);
    const said = `${stdout}  types with ${basename(compiler)}: ${status === 0 ? 'good' : 'wrong'}\n`;
    results.push({ passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, failures: said, said });
  }
  return results;
}

async function runLeg({ peer, version, title }) {
  const folder = join(ROOT, '.cache/peers', title.replace(/[/ ]/g, '-'));
  try {
    await install(folder, version.install, peer.flags);
    return [await runTests(folder, peer, version), ...(await checkTypes(folder, peer))];
  } catch (error) {
    return [{ passed: 0, failed: 1, failures: String(error), said: `${error.stack}\n` }];
  }
}

const isOldest = process.argv.includes('--oldest');
const [wanted] = process.argv.slice(2).filter((argument) => argument !== '--oldest');
const peers = PEERS.filter(({ name }) => wanted === undefined || name === wanted);
if (peers.length === 0) {
  console.error(`No peer is called ${wanted}; there are ${PEERS.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}
installFolder('test');
execFileSync(process.execPath, ['scripts/build.mjs', '--if-changed'], {
  cwd: ROOT,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const legs = peers.map((peer) => {
  const version = peer.versions.at(isOldest ? 0 : -1);
  return { peer, version, title: `${peer.name} ${version.install[peer.name]}` };
});
const results = [];
const waiting = [...legs];
const work = async () => {
  for (let leg = waiting.shift(); leg; leg = waiting.shift()) {
    const { title } = leg;
    const ofLeg = await runLeg(leg);
    process.stdout.write(`\n== ${title}\n${ofLeg.map(({ said }) => said).join('')}`);
    results.push(...ofLeg.map((result) => ({ title, ...result })));
  }
};
await Promise.all(Array.from({ length: JOBS }, work));
process.stdout.write(summaryOf(results));
process.exit(results.every(({ failed }) => failed === 0) ? 0 : 1);
