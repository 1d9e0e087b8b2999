// test-peers.mjs [NAME]: runs the adapters' tests, and type-checks a program of their users, with the oldest and the newest version of
// each optional peer (peers/versions.mjs). They are installed from npm below .cache/peers, and used again. Ends with the numbers of all.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { failuresOf, resultOf, summaryOf } from './peers/results.mjs';
import { PEERS } from './peers/versions.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NAME = 'agent-session-gateway';
const MOCHA = 'node_modules/mocha/bin/mocha.js';

function versionIn(folder, name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function install(folder, packages) {
  // What a user's project has besides, as it is here: our own dependency, and the types of Node.
  const ours = ['zod', '@types/node'].map((name) => [name, versionIn(ROOT, name)]);
  const dependencies = { ...packages, ...Object.fromEntries(ours) };
  const project = JSON.stringify({ private: true, type: 'module', dependencies });
  const done = join(folder, 'installed.json');
  if (existsSync(done) && readFileSync(done, 'utf8') === project) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), project);
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(done, project);
}

function runTests(folder, { tests }, { install: packages, node = 20 }) {
  const redirect = pathToFileURL(join(ROOT, 'scripts/peers/redirect.mjs')).href;
  const env = {
    ...process.env,
    PEERS: folder,
    PEER_NAMES: Object.keys(packages).join(),
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${redirect}`,
  };
  const ran = spawnSync(process.execPath, ['scripts/on-node.mjs', String(node), MOCHA, tests], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
  process.stdout.write(ran.stdout);
  return { ...resultOf(ran), failures: failuresOf(ran) };
}

function checkTypes(folder, { types }) {
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
  return ['typescript', 'typescript5'].map((compiler) => {
    const tsc = join(ROOT, 'node_modules', compiler, 'bin/tsc');
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    process.stdout.write(stdout);
    console.log(`  types with ${compiler}: ${status === 0 ? 'good' : 'wrong'}`);
    return status === 0
      ? { passed: 1, failed: 0 }
      : { passed: 0, failed: 1, failures: `types with ${compiler}\n${stdout}` };
  });
}

function runLeg(folder, peer, version) {
  try {
    install(folder, version.install);
    return [runTests(folder, peer, version), ...checkTypes(folder, peer)];
  } catch (error) {
    console.error(error);
    return [{ passed: 0, failed: 1, failures: String(error) }];
  }
}

const [, , wanted] = process.argv;
const peers = PEERS.filter(({ name }) => wanted === undefined || name === wanted);
if (peers.length === 0) {
  console.error(`No peer is called ${wanted}; there are ${PEERS.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}
execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
const results = [];
for (const peer of peers) {
  for (const version of peer.versions) {
    const title = `${peer.name} ${version.install[peer.name]}`;
    console.log(`\n== ${title}`);
    const folder = join(ROOT, '.cache/peers', title.replace(/[/ ]/g, '-'));
    results.push(...runLeg(folder, peer, version).map((result) => ({ title, ...result })));
  }
}
process.stdout.write(summaryOf(results));
process.exit(results.every(({ failed }) => failed === 0) ? 0 : 1);
