// timed.mjs FILE: fails where a quick test that FILE lists (run.mjs --suspects) takes long while nothing else runs.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { files, titles } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
if (files.length === 0) console.log('No quick test took long.');
else
  process.exit(
    spawnSync(
      process.execPath,
      ['scripts/test/run.mjs', 'quick', '--timed', '--grep', titles, '--jobs', '1', ...files],
      { stdio: 'inherit' },
    ).status ?? 1,
  );
