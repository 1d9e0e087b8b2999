// Builds the package of the client alone into .cache/client, from the same sources: for pages and programs that install no server. It is
// packed and published from there. `npm run build` comes before, which says the types.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { ENTRIES } from './bundle/entries.mjs';
import { install } from './installed.mjs';
import { typesVersionsOf } from './types-versions.mjs';

install('scripts');
const { bundle } = await import('./bundle/bundle.mjs');

const TARGET = '.cache/client';
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

/** Entries of `agent-session-gateway/client` and below, by what they are here: `.`, `./react`. */
const SUBPATHS = new Map(
  Object.entries(manifest.exports).map(([subpath, { default: file }]) => [file, subpath]),
);
const subpathOf = (entry) => SUBPATHS.get(`./dist/${entry}.js`).replace('./client', '.');
const entries = ENTRIES.filter((entry) => entry.startsWith('client/'));
const pick = (from, names) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
const imported = await bundle({ target: TARGET, entries, programs: [], folders: ['client', 'shared'] });
const packages = imported.map((id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)[0]);
const unknown = packages.filter((name) => !manifest.dependencies[name] && !manifest.peerDependencies[name]);
if (unknown.length > 0) throw new Error(`The client imports what nobody installs: ${unknown}`);

const exports = Object.fromEntries(
  entries.map((entry) => [
    subpathOf(entry),
    { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` },
  ]),
);
const { version, license, type, sideEffects, engines } = manifest;
const own = {
  name: `${manifest.name}-client`,
  version,
  description:
    'The client of Agent Session Gateway alone: sessions that resume exactly, in browsers and Node',
  keywords: manifest.keywords,
  license,
  type,
  sideEffects,
  engines,
  files: ['dist'],
  main: './dist/client/index.js',
  types: './dist/client/index.d.ts',
  exports: { ...exports, './package.json': './package.json' },
  typesVersions: typesVersionsOf(exports),
  dependencies: pick(manifest.dependencies, packages),
  peerDependencies: pick(manifest.peerDependencies, packages),
  peerDependenciesMeta: pick(manifest.peerDependenciesMeta, packages),
};
writeFileSync(`${TARGET}/package.json`, `${JSON.stringify(own, null, 2)}\n`);
cpSync('LICENSE', `${TARGET}/LICENSE`);
cpSync('client/README.md', `${TARGET}/README.md`);
