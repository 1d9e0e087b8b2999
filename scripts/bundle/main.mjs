// Bundles the package into dist, or what runs of it, without types and sources, into the dist of a folder that is named.
import { install } from '../installed.mjs';
import { ENTRIES, PROGRAMS } from './entries.mjs';

install('scripts');
const { bundle } = await import('./bundle.mjs');

const [target] = process.argv.slice(2);
await bundle({
  target: target ?? '.',
  entries: ENTRIES,
  programs: PROGRAMS,
  folders: target === undefined ? ['client', 'server', 'shared', 'testing'] : [],
});
