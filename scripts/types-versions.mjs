// Writes `typesVersions` into package.json before it is packed, and with `--away` takes it out again. It says to `moduleResolution: node10`
// what `exports` says to everybody else.
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** @param {Record<string, string | { types?: string }>} exports */
export const typesVersionsOf = (exports) => ({
  '*': Object.fromEntries(
    Object.entries(exports).flatMap(([subpath, { types }]) =>
      subpath === '.' || types === undefined ? [] : [[subpath.slice(2), [types]]],
    ),
  ),
});

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { typesVersions: _former, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'));
  if (process.argv[2] !== '--away') manifest.typesVersions = typesVersionsOf(manifest.exports);
  // A build asks whether the file has changed.
  const { atime, mtime } = statSync('package.json');
  writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
  utimesSync('package.json', atime, mtime);
}
