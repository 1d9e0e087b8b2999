// npm run test:long: once a week. All that .ci/run does, with nothing unsteady, the oldest peers, several gateways through kills, freezes and
// cuts, and whether tests see what they are for.
import { check, runPhases, suite } from './lanes.mjs';

const npm = (script, ...args) => ['npm', 'run', '--silent', script, '--', ...args];

await runPhases([
  [[check(...npm('build')), suite(...npm('check'))]],
  [[suite(...npm('test', '--steady')), suite(...npm('test:slow', '--steady'))]],
  [
    [
      suite(...npm('test:package', '--steady')),
      suite(...npm('test:peers', '--oldest')),
      suite(...npm('test:node24', '--steady')),
    ],
  ],
  [
    [
      suite(...npm('test:cluster', '--steady')),
      suite(...npm('test:away', '--steady')),
      suite(...npm('test:mutants')),
    ],
  ],
]);
