// What is imported of the package, or run, by itself: each is a file of dist under the path that its source has.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const nameOf = (file) => file.replace(/^\.\/dist\/|\.js$/g, '');
const exported = Object.values(manifest.exports).filter(({ types }) => types);

/** Entries with types, by the names of their files: `client/react/index`. */
export const ENTRIES = exported.map((target) => nameOf(target.default));

/** Programs, and what a browser gets of the server. */
export const PROGRAMS = [
  ...Object.values(manifest.bin).map(nameOf),
  ...exported.flatMap(({ browser }) => (browser === undefined ? [] : [nameOf(browser)])),
  // Started as a thread.
  'server/monitor/thread',
  // Started as processes by the command line, and by tests.
  'server/cli/serve/start-worker',
  ...['server/cli/serve/worker', 'server/cli/serve/demo-worker', 'server/demo/main'],
];
