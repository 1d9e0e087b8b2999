// Bundles the package into dist, or what runs of it, without types and sources, into the dist of a folder that is named.
import { bundle } from './bundle.mjs';
import { ENTRIES, PROGRAMS } from './entries.mjs';

const [target] = process.argv.slice(2);
await bundle({
  target: target ?? '.',
  entries: ENTRIES,
  programs: PROGRAMS,
  folders: target === undefined ? ['client', 'server', 'shared', 'testing'] : [],
});
