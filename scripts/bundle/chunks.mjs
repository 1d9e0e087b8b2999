import { readFileSync } from 'node:fs';

// In which chunk a module is that several entries load. Rollup would make a chunk for each set of entries that share something, some
// hundred, and who starts would read many. Here they are few, and yet nobody loads much for the sake of others: a page neither the
// schemas of the protocol nor anything of Node, the command line no gateway, a gateway no plugins.

const isClient = (name) => name.startsWith('client/') && name !== 'client/node/index';
const is = (known) => (name) => name === known;
const isServer = (name) => name.startsWith('server/') || name === 'shared/index';
const isCommand = (name) => /^server\/(?:cli|codegen|demo)\//.test(name);
/** Those that load little: the client over Unix sockets, and the command line before it does what it is told. */
const isLight = (name) => name === 'client/node/index' || name === 'server/cli/program';

/** Chunks by who loads what is in them, and by whom else; the first that fits. */
const CHUNKS = [
  ['shared', is('client/index'), isServer],
  ['client', is('client/index')],
  ['client-common', isClient],
  ['protocol-common', is('shared/index'), isLight],
  ['common', isLight, (name) => !isCommand(name)],
  ['protocol', is('shared/index')],
  ['gateway', is('server/index')],
  ['command', isLight],
];

const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const PEER = new RegExp(`^(${Object.keys(peerDependencies).join('|')})(?:/|$)`);

/** Packages whose parts that are used are in the code: zod as a whole takes longer to load than all that is ours, many files longer than one. */
export const BUNDLED = ['zod', '@cfworker/json-schema'];

const flat = (name) => name.replaceAll(/[@/]+/g, '-').replaceAll('--', '-');
/** The chunk of a package that is in the bundle. */
export const packageChunk = (name) => flat(name).replace(/^-/, '');

/** Chooses chunks, as the option `manualChunks` of Rollup. `nameOf` has the name of an entry, or of what is loaded later, by its id. */
export function chunkOf(entries, nameOf) {
  let reached;
  const peers = new Map();
  return (id, { getModuleInfo }) => {
    const [, foreign] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
    if (foreign !== undefined) return packageChunk(foreign);
    reached ??= reachOf(entries, getModuleInfo);
    const names = [...(reached.get(id) ?? [])].map(nameOf);
    if (names.length < 2) return undefined;
    const chunk = CHUNKS.find(([, ...who]) => who.every((fits) => names.some(fits)));
    const name = chunk?.[0] ?? names[0].replace(/^server\/|\/index$/g, '');
    // A module that needs an optional package is with none that others load: a bundler would look for that package in vain. Nobody
    // bundles the command line.
    const needed = isCommand(names[0]) ? [] : peersOf(id, getModuleInfo, peers);
    return flat([name, ...needed].join('-'));
  };
}

/** By which modules each is loaded at once: by entries, and by what is loaded later, which begins anew. */
function reachOf(entries, getModuleInfo) {
  const reached = new Map();
  const roots = [...entries];
  for (const root of roots) {
    const visit = (id) => {
      const info = getModuleInfo(id);
      if (info === null || info.isExternal) return;
      const by = reached.get(id) ?? new Set();
      if (by.has(root)) return;
      reached.set(id, by.add(root));
      for (const later of info.dynamicallyImportedIds) if (!roots.includes(later)) roots.push(later);
      for (const next of info.importedIds) visit(next);
    };
    visit(root);
  }
  return reached;
}

/** The optional packages that a module may load, itself or by what it imports, sorted. */
function peersOf(id, getModuleInfo, known) {
  if (known.has(id)) return known.get(id);
  const found = new Set();
  const seen = new Set();
  const visit = (of) => {
    if (seen.has(of)) return;
    seen.add(of);
    const [, peer] = PEER.exec(of) ?? [];
    if (peer !== undefined) found.add(peer);
    const info = getModuleInfo(of);
    if (info === null || info.isExternal) return;
    for (const next of [...info.importedIds, ...info.dynamicallyImportedIds]) visit(next);
  };
  visit(id);
  known.set(id, [...found].sort());
  return known.get(id);
}
