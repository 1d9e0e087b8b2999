// npm run check: what is found wrong without running the product, in 1 minute.
import { check, runPhases, suite } from './lanes.mjs';

const { execPath: node } = process;

await runPhases([
  [
    [check('npm', 'run', '--silent', 'typecheck')],
    [
      check('npm', 'run', '--silent', 'lint'),
      check(node, 'scripts/build.mjs', '--if-changed'),
      check(node, 'scripts/api-report.mjs', '--check'),
      suite(node, 'scripts/test/run.mjs', 'quick', 'test/structure/'),
    ],
  ],
]);
