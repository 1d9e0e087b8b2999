// What .ci/run checks, once packages are installed.
import { after, check, runPhases, suite } from './lanes.mjs';

const npm = (script, ...args) => ['npm', 'run', '--silent', script, '--', ...args];

/** Files of quick tests that took long beside all others. */
const SUSPECTS = '.cache/suspects.json';

/** What all that runs the package needs, and types and lint do not. */
const built = check(...npm('build'));

/** Minutes of a step: the longest takes 15 on two cores. */
const MINUTES = 30;

await runPhases(
  [
    [
      // The slow ones first, so that none is left for the end.
      [built, suite('node', 'scripts/test/run.mjs', 'slow,quick', '--suspects', SUSPECTS)],
      [
        check(...npm('typecheck')),
        check(...npm('lint')),
        after(built, check(...npm('api', '--check'))),
        suite(...npm('test:package')),
        suite(...npm('test:peers')),
        suite(...npm('test:python')),
        // Each runs on our own Node each day.
        suite(...npm('test:node24', '--days', '3')),
      ],
      // Most of its time it waits.
      [after(built, suite(...npm('test:cluster')))],
    ],
    // Where nothing else runs.
    [[check('node', 'scripts/test/timed.mjs', SUSPECTS), suite(...npm('test:quiet'))]],
  ],
  MINUTES,
);
