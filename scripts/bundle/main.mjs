// Bundles what is imported of the package and its types into dist. What `tsc` has said of the types is in .cache/types.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { transform } from 'esbuild';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { chunkOf } from './chunks.mjs';
import { ENTRIES, PROGRAMS } from './entries.mjs';
import { mapTo, shipSources } from './sources.mjs';

const TARGET = 'dist';
const TYPES = '.cache/types';

const isPackage = (id) => !/^[./]/.test(id);
/** What Rollup may warn of. */
const KNOWN = [
  // Directives are put back, and have no place in the code before them.
  /"use client"|Can't resolve original location/,
  // Types that no entry exports are named through one that does.
  /private shared type exports/,
];
const onwarn = ({ message }) => {
  if (!KNOWN.some((known) => known.test(message))) throw new Error(message);
};
const directiveOf = (file) => /^'use \w+';\n/.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'));

/** Finds the modules of the sources, and takes their types off. */
const typescript = {
  name: 'typescript',
  resolveId: (id, importer) =>
    importer !== undefined && id.startsWith('.')
      ? resolve(dirname(importer), id.replace(/\.js$/, '.ts'))
      : undefined,
  transform: async (text) => {
    const { code } = await transform(text, {
      loader: 'ts',
      target: 'node20',
      tsconfigRaw: { compilerOptions },
    });
    return { code, map: null };
  },
};

/**
 * Keeps the plugin for types from rewriting imports of entries afterwards, which loses their maps. It does that for types that users'
 * declarations could not name else; here such are named through the entries that export them, as TypeScript does by itself.
 */
const keepMaps = {
  name: 'keep-maps',
  generateBundle: (_, output) => {
    for (const chunk of Object.values(output)) chunk.isEntry = true;
  },
};

async function bundle({ names, from, extension, plugins, sourcemap }) {
  const idOf = (name) => resolve(from, `${name}${extension.source}`);
  const nameOf = (id) => relative(from, id).slice(0, -extension.source.length);
  const built = await rollup({
    input: Object.fromEntries(names.map((name) => [name, idOf(name)])),
    external: isPackage,
    plugins,
    onwarn,
    // As package.json says, but for the check of Node's version.
    treeshake: { moduleSideEffects: (id) => /\/(?:node-version|main)\.ts$/.test(id) },
  });
  const { output } = await built.generate({
    dir: TARGET,
    format: 'es',
    sourcemap,
    hoistTransitiveImports: false,
    banner: ({ facadeModuleId }) => (facadeModuleId === null ? '' : directiveOf(facadeModuleId)),
    manualChunks: chunkOf(names.map(idOf), nameOf),
    entryFileNames: `[name]${extension.built}`,
    chunkFileNames: ({ name }) => `chunks/${name.replace(/\.d$/, '')}${extension.built}`,
  });
  await built.close();
  for (const { type, fileName, code } of output) {
    if (type !== 'chunk') continue;
    const file = join(TARGET, fileName);
    mkdirSync(dirname(file), { recursive: true });
    // The map is in an asset of its own: the plugin completes that one alone.
    const map = output.find((asset) => asset.fileName === `${fileName}.map`);
    const shipped = map && mapTo(places, JSON.parse(map.source), file);
    const text = code.replace(/\/\/# sourceMappingURL=.*\n*$/, '');
    writeFileSync(file, shipped ? `${text}//# sourceMappingURL=${basename(file)}.map\n` : text);
    if (shipped) writeFileSync(`${file}.map`, shipped);
  }
}

const places = shipSources(['client', 'server', 'shared', 'testing']);
await bundle({
  names: [...ENTRIES, ...PROGRAMS],
  from: '.',
  extension: { source: '.ts', built: '.js' },
  plugins: [typescript],
  // What runs is the code of the sources but for its types: the maps of these lead an editor to them.
  sourcemap: false,
});
await bundle({
  names: ENTRIES,
  from: TYPES,
  extension: { source: '.d.ts', built: '.d.ts' },
  plugins: [keepMaps, dts({ sourcemap: true })],
  sourcemap: true,
});
