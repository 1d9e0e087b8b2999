import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readPage } from '../support/pages.js';
import { ROOT } from '../support/program.js';

const run = promisify(execFile);

/** The test files that the tables of features name. */
const NAMED = [
  ...new Set(
    [...readPage('docs/protocols.md').matchAll(/^\| .+ \| yes[^|]* \| (.+) \|$/gm)].flatMap(([, why]) =>
      [...why!.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path!),
    ),
  ),
];

describe('the tests that the tables of protocols name', () => {
  it('are collected, and none is left out', async function () {
    // All of them are loaded.
    this.timeout(600_000);
    expect(NAMED.length).to.be.above(40);
    const options = ['--dry-run', '--reporter', 'json', '--exit', ...NAMED];
    const { stdout } = await run(process.execPath, ['node_modules/mocha/bin/mocha.js', ...options], {
      cwd: ROOT,
      env: { ...process.env, DAY: 'all' },
      maxBuffer: 64 * 1024 * 1024,
    });
    const { tests, pending } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
      readonly tests: readonly { readonly file: string }[];
      readonly pending: readonly { readonly fullTitle: string }[];
    };
    expect(pending.map(({ fullTitle }) => fullTitle)).to.deep.equal([]);
    const files = new Set(tests.map(({ file }) => file));
    for (const path of NAMED)
      expect(
        [...files].some((file) => file.endsWith(path)),
        path,
      ).to.equal(true);
  });
});
