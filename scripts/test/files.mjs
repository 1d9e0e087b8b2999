// Which tests there are, by the names of their files.
import { readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/**
 * What runs when: `*.test.ts` at each change, `*.slow.test.ts` (a test takes over a second, or starts programs) and `*.package.test.ts` (it
 * needs the built package) in `.ci/run`, and so, one after the other, `*.cluster.test.ts` (gateways that are killed, frozen and cut off);
 * `*.quiet.test.ts` (it measures time, with the built package) last, where nothing else runs; `*.long.test.ts` once a week.
 */
export const TIERS = ['quick', 'slow', 'package', 'cluster', 'quiet', 'long'];

const NAMED = /\.(slow|package|cluster|quiet|long)\.test\.ts$/;

export const tierOf = (file) => NAMED.exec(file)?.[1] ?? 'quick';

/**
 * The files of a tier, the biggest first, so that no big one is left for the end.
 *
 * @param parts Parts of paths, one of which each has; all without any.
 */
export function filesOf(tier, parts = []) {
  return pathsIn('test')
    .filter((path) => path.endsWith('.test.ts') && tierOf(path) === tier)
    .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part.replaceAll('/', sep))))
    .map((path) => ({ path, bytes: statSync(path).size }))
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ path }) => path);
}

function pathsIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? pathsIn(path) : [path];
    });
}
