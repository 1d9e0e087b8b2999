// The sources as they are shipped: many modules in one file, one below the other, because a package of a thousand files takes long to
// install. Maps lead to the lines there.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix, relative, resolve } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';

const SHIPPED = 'dist/src';
/** Characters a folder of the server has to have for a file of its own. */
const OWN_FILE = 40_000;

const modulesOf = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => posix.join(folder, name))
    .sort();

/** Which file each module is in: `server/sessions/x/y.ts` in `server/sessions.ts`, `client/vue/x.ts` in `client.ts`. */
function filesOf(texts) {
  const folderOf = (source) => source.split('/').slice(0, 2).join('/');
  const lengths = new Map();
  for (const [source, text] of texts)
    lengths.set(folderOf(source), (lengths.get(folderOf(source)) ?? 0) + text.length);
  const isApart = (folder) => folder.startsWith('server/') && lengths.get(folder) >= OWN_FILE;
  return (source) =>
    `${isApart(folderOf(source)) ? folderOf(source) : source.slice(0, source.indexOf('/'))}.ts`;
}

/** Writes them into a package; returns where each module begins, by its path. */
export function shipSources(folders, target) {
  const texts = new Map(folders.flatMap(modulesOf).map((source) => [source, readFileSync(source, 'utf8')]));
  const fileOf = filesOf(texts);
  const shipped = new Map();
  const places = new Map();
  for (const [source, text] of texts) {
    const file = join(SHIPPED, fileOf(source));
    const before = `${shipped.get(file) ?? ''}// ${source}\n`;
    places.set(source, { file, line: before.split('\n').length - 1 });
    shipped.set(file, `${before}${text.trimEnd()}\n\n`);
  }
  for (const [file, text] of shipped) {
    const path = join(target, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return places;
}

/** A map as it is shipped, leading to the sources there. @throws where one leads to anything else */
export function mapTo(places, map, from) {
  const sources = map.sources.map((source) => {
    const path = relative(process.cwd(), resolve(dirname(from), source));
    const place = places.get(path);
    if (place === undefined) throw new Error(`${from}: nothing is shipped of ${path}`);
    return place;
  });
  const files = [...new Set(sources.map(({ file }) => file))];
  const mappings = decode(map.mappings).map((line) =>
    line.map((segment) => {
      if (segment.length === 1) return segment;
      const [column, source, at, sourceColumn] = segment;
      const { file, line: first } = sources[source];
      return [column, files.indexOf(file), first + at, sourceColumn];
    }),
  );
  return JSON.stringify({
    version: 3,
    file: basename(from),
    sources: files.map((file) => relative(dirname(from), file)),
    names: [],
    mappings: encode(mappings),
  });
}
