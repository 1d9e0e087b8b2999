// timed.mjs FILE [STARTS]: fails where a quick test that FILE lists (run.mjs --suspects) takes longer than so many starts of Node (50) while
// nothing else runs: 2.5 s where one takes 50 ms. On a slow machine all takes longer.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Milliseconds that Node takes to start: the median of seven. */
function startOfNode() {
  const times = Array.from({ length: 7 }, () => {
    const began = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - began;
  });
  return times.sort((a, b) => a - b)[3];
}

const [file, starts = '50'] = process.argv.slice(2);
const { files, titles } = JSON.parse(readFileSync(file, 'utf8'));
if (files.length === 0) console.log('No quick test took long.');
else
  process.exit(
    spawnSync(
      process.execPath,
      [
        'scripts/test/run.mjs',
        'quick',
        ...['--timed', `${Math.round(Number(starts) * startOfNode())}`],
        ...['--grep', titles, '--jobs', '1'],
        ...files,
      ],
      { stdio: 'inherit' },
    ).status ?? 1,
  );
