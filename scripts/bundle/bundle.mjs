// Bundles entries, or their types. What `tsc` has said of the types is in .cache/types.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { BUNDLED, chunkOf, packageChunk } from './chunks.mjs';
import { mapTo, shipSources } from './sources.mjs';
import { withoutCopies } from './spreads.mjs';

/** What Rollup may warn of. */
const KNOWN = [
  // Directives are put back, and have no place in the code before them.
  /"use client"|Can't resolve original location/,
  // Types that no entry exports are named through one that does.
  /private shared type exports/,
  // Circles and comments of packages.
  /^(?:Circular dependency: )?node_modules\//,
];
const onwarn = ({ message }) => {
  if (!KNOWN.some((known) => known.test(message))) throw new Error(message);
};
const directiveOf = (file) => /^'use \w+';\n/.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'));

/** Whether it is a module of a package, which is in the bundle as it is. */
const isForeign = (id) => id.includes('/node_modules/');

/** Finds the modules of the sources, and takes their types off. */
const typescript = {
  name: 'typescript',
  resolveId: (id, importer) =>
    importer !== undefined && id.startsWith('.') && !isForeign(importer)
      ? resolve(dirname(importer), id.replace(/\.js$/, '.ts'))
      : undefined,
  transform: async (text, id) => {
    if (isForeign(id)) return undefined;
    const { code } = await transform(text, {
      loader: 'ts',
      target: 'node20',
      tsconfigRaw: { compilerOptions },
    });
    return { code: withoutCopies(code), map: null };
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

const packages = {
  name: 'packages',
  resolveId: (id) => (BUNDLED.includes(id) ? fileURLToPath(import.meta.resolve(id)) : undefined),
  // Nobody reads them there. Their licences are to stay with them.
  renderChunk: async (text, { name }) => {
    const bundled = BUNDLED.find((id) => packageChunk(id) === name);
    if (bundled === undefined) return null;
    const { code } = await transform(text, { minify: true, target: 'node20' });
    return `/*!\n${licenseOf(bundled)}*/\n${code}`;
  },
};
const licenseOf = (name) => {
  const folder = dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)));
  const { version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = join(folder, 'LICENSE');
  // Some packages only name theirs.
  const text = existsSync(file) ? readFileSync(file, 'utf8') : `License: ${license}, ${author}\n`;
  return `${name} ${version}\n\n${text}`;
};

/** What runs is the code of the sources but for its types, without maps: those of the types lead an editor to the sources. */
const CODE = {
  from: '.',
  source: '.ts',
  built: '.js',
  bundled: BUNDLED,
  plugins: [packages, typescript],
  sourcemap: false,
};
const TYPES = {
  from: '.cache/types',
  source: '.d.ts',
  built: '.d.ts',
  bundled: [],
  plugins: [keepMaps, dts({ sourcemap: true })],
  sourcemap: true,
};

async function outputOf(names, { from, source, built, bundled, plugins, sourcemap }) {
  const idOf = (name) => resolve(from, `${name}${source}`);
  const nameOf = (id) => relative(from, id).slice(0, -source.length);
  const bundle = await rollup({
    input: Object.fromEntries(names.map((name) => [name, idOf(name)])),
    external: (id) => !/^[./]/.test(id) && !bundled.includes(id),
    plugins,
    onwarn,
    // As package.json says, but for the check of Node's version.
    treeshake: { moduleSideEffects: (id) => /\/(?:node-version|main)\.ts$/.test(id) },
  });
  const { output } = await bundle.generate({
    dir: 'dist',
    format: 'es',
    sourcemap,
    hoistTransitiveImports: false,
    banner: ({ facadeModuleId }) => (facadeModuleId === null ? '' : directiveOf(facadeModuleId)),
    manualChunks: chunkOf(names.map(idOf), nameOf),
    entryFileNames: `[name]${built}`,
    chunkFileNames: ({ name }) => `chunks/${name.replace(/\.d$/, '')}${built}`,
  });
  await bundle.close();
  return output;
}

/**
 * Writes a package's `dist`, in `target`: its entries and programs, and with the sources of these folders, where there are any, the
 * types of the entries. Returns the packages that it imports.
 */
export async function bundle({ target, entries, programs, folders }) {
  const places = shipSources(folders, target);
  const imported = new Set();
  const bundles = [await outputOf([...entries, ...programs], CODE)];
  if (folders.length > 0) bundles.push(await outputOf(entries, TYPES));
  for (const { type, fileName, code, imports } of bundles.flat()) {
    if (type !== 'chunk') continue;
    for (const id of imports) imported.add(id);
    const file = join('dist', fileName);
    mkdirSync(dirname(join(target, file)), { recursive: true });
    // The map is in an asset of its own: the plugin completes that one alone.
    const map = bundles.flat().find((asset) => asset.fileName === `${fileName}.map`);
    const text = code.replace(/\/\/# sourceMappingURL=.*\n*$/, '');
    writeFileSync(join(target, file), map ? `${text}//# sourceMappingURL=${basename(file)}.map\n` : text);
    if (map) writeFileSync(join(target, `${file}.map`), mapTo(places, JSON.parse(map.source), file));
  }
  return [...imported].filter(
    (id) => !id.startsWith('node:') && !id.endsWith('.js') && !id.endsWith('.d.ts'),
  );
}
