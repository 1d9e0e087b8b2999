// Bundles the package into dist.
import { bundle } from './bundle.mjs';
import { ENTRIES, PROGRAMS } from './entries.mjs';

await bundle({
  target: '.',
  entries: ENTRIES,
  programs: PROGRAMS,
  folders: ['client', 'server', 'shared', 'testing'],
});
