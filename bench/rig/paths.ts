import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const BENCH = join(ROOT, 'bench');
/** The benchmark's processes, compiled: where they find what bench/package.json brings. */
export const BUILT = join(BENCH, 'dist');
/** The package, compiled: where it finds its own dependencies, and not those of a peer. */
export const BUILT_PACKAGE = join(ROOT, '.cache/bench/package/dist');
/** The same without what it tells on its channels. */
export const UNTOLD_PACKAGE = join(ROOT, '.cache/bench/untold/dist');
