// Puts the sources beside what was built of them and has the maps lead there, so that an editor goes from a name to its source.
// Below dist, since folders at the top of a package are what old resolvers take its subpaths for.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

for (const folder of ['client', 'server', 'shared', 'testing'])
  cpSync(folder, join('dist/src', folder), { recursive: true });

for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.map')) continue;
  const file = join(entry.parentPath, entry.name);
  const map = JSON.parse(readFileSync(file, 'utf8'));
  map.sources = map.sources.map((source) => {
    const shipped = resolve('dist/src', relative(process.cwd(), resolve(dirname(file), source)));
    return relative(resolve(dirname(file)), shipped)
      .split(sep)
      .join('/');
  });
  writeFileSync(file, JSON.stringify(map));
}
