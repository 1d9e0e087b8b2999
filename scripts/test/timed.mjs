// timed.mjs FILE: fails where a quick test that FILE lists (run.mjs --suspects) takes long while nothing else runs. How long that is follows the
// machine: all tests take twice as long where Node takes twice as long to start.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Starts of Node that a quick test may last: two and a half seconds where one takes 50 ms. */
const QUICK_STARTS = 50;

/** Milliseconds that Node takes to start: the median of seven. */
function startOfNode() {
  const times = Array.from({ length: 7 }, () => {
    const began = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - began;
  });
  return times.sort((a, b) => a - b)[3];
}

const { files, titles } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
if (files.length === 0) console.log('No quick test took long.');
else
  process.exit(
    spawnSync(
      process.execPath,
      [
        'scripts/test/run.mjs',
        'quick',
        ...['--timed', `${Math.round(QUICK_STARTS * startOfNode())}`],
        ...['--grep', titles, '--jobs', '1'],
        ...files,
      ],
      { stdio: 'inherit' },
    ).status ?? 1,
  );
