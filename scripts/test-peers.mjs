// test-peers.mjs [NAME]: runs the adapters' tests, and type-checks a program of their users, with the oldest and the newest version of
// each optional peer. They are installed from npm below .cache/peers, the newest anew each time. Ends with the numbers of all.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PEERS } from './peers/versions.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const { devDependencies, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const NAME = 'agent-session-gateway';
const MOCHA = 'node_modules/mocha/bin/mocha.js';
const wanted = process.argv[2];
let passed = 0;
const failed = [];

function install(folder, packages) {
  mkdirSync(folder, { recursive: true });
  // What a user's project has besides: our own dependency, and the types of Node.
  const all = { ...packages, zod: dependencies.zod, '@types/node': devDependencies['@types/node'] };
  const project = { private: true, type: 'module', dependencies: all };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  rmSync(join(folder, 'package-lock.json'), { force: true });
  rmSync(join(folder, 'node_modules', NAME), { recursive: true, force: true });
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

function versionOf(folder, name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function runTests(folder, { name, tests }, { install: packages, node = 20 }) {
  const redirect = pathToFileURL(join(ROOT, 'scripts/peers/redirect.mjs')).href;
  const env = {
    ...process.env,
    PEERS: folder,
    PEER_NAMES: Object.keys(packages).join(),
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${redirect}`,
  };
  const { stdout, status } = spawnSync(
    process.execPath,
    ['scripts/on-node.mjs', String(node), MOCHA, tests],
    { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 64 * 1024 * 1024 },
  );
  process.stdout.write(stdout);
  const ok = Number(/^ +(\d+) passing/m.exec(stdout)?.[1] ?? 0);
  passed += ok;
  if (status !== 0 || ok === 0) failed.push(`${name} ${versionOf(folder, name)}: ${tests}`);
}

function checkTypes(folder, { name, types }) {
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
  cpSync(join(ROOT, 'dist'), join(installed, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'));
  for (const compiler of ['typescript', 'typescript5']) {
    const tsc = join(ROOT, 'node_modules', compiler, 'bin/tsc');
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    process.stdout.write(stdout);
    if (status === 0) passed += 1;
    else failed.push(`${name} ${versionOf(folder, name)}: types with ${compiler}`);
  }
}

execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: 'ignore' });
for (const peer of PEERS.filter(({ name }) => wanted === undefined || name === wanted)) {
  for (const [at, version] of peer.versions.entries()) {
    const folder = join(ROOT, '.cache/peers', `${peer.name.replace('/', '-')}-${at}`);
    install(folder, version.install);
    console.log(`\n== ${peer.name} ${versionOf(folder, peer.name)}`);
    runTests(folder, peer, version);
    checkTypes(folder, peer);
  }
}
console.log(`\n  ${passed} passing\n  ${failed.length} failing`);
for (const one of failed) console.log(`    ${one}`);
process.exit(failed.length === 0 ? 0 : 1);
