// What .ci/run checks, once packages are installed.
import { check, runPhases, suite } from './lanes.mjs';

const npm = (script, ...args) => ['npm', 'run', '--silent', script, '--', ...args];

/** Files of quick tests that took long beside all others. */
const SUSPECTS = '.cache/suspects.json';

await runPhases([
  // What the others use.
  [[check(...npm('build'))]],
  [
    // The slow ones first, so that none is left for the end.
    [suite('node', 'scripts/test/run.mjs', 'slow,quick', '--suspects', SUSPECTS)],
    [
      check(...npm('typecheck')),
      check(...npm('lint')),
      check(...npm('api', '--check')),
      suite(...npm('test:package')),
      suite(...npm('test:peers')),
      suite(...npm('test:node24')),
    ],
    // Most of its time it waits.
    [suite(...npm('test:cluster'))],
  ],
  // Where nothing else runs.
  [[check('node', 'scripts/test/timed.mjs', SUSPECTS), suite(...npm('test:quiet'))]],
]);
