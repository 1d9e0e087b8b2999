import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';
import { ROOT } from '../support/program.js';

/** What stores keep, and how: another version of these files does not start beside this one. */
const FORMATS = [
  'server/stores/postgres/schema.ts',
  'server/stores/postgres/sql',
  'server/stores/redis/keys.ts',
  'server/stores/redis/requirements.ts',
];

const git = (...args: readonly string[]): string =>
  spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';

/**
 * The oldest version that may serve beside this one: the one that has set the formats of the stores as they are. The test is skipped where
 * the history is not there, or has none that is older.
 */
export function olderVersion(test: Context): string {
  const isWhole = git('rev-parse', '--is-shallow-repository') === 'false';
  const older = isWhole ? git('log', '-1', '--first-parent', '--format=%H', '--', ...FORMATS) : '';
  if (older !== '' && older !== git('rev-parse', 'HEAD')) return older;
  console.log(`      ${isWhole ? 'The formats of the stores are new' : 'There is no whole history of git'}`);
  return test.skip();
}
