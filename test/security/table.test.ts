import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/program.js';

const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
const rows = [...page.matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, number, tests]) => ({
  number: Number(number),
  tests: [...tests!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
}));
// The slow tests of a row are in a file of their own, beside the quick ones or alone.
const files = readdirSync(import.meta.dirname).flatMap(
  (name) => /^(row-\d\d-[^.]+)(?:\.slow)?\.test\.ts$/.exec(name)?.[1] ?? [],
);

describe('the table of threats', () => {
  it('has all 35 rows, in order', () => {
    expect(rows.map(({ number }) => number)).to.deep.equal(Array.from({ length: 35 }, (_, n) => n + 1));
  });

  it('names tests that exist', () => {
    for (const { tests } of rows) {
      for (const name of tests.filter((it) => !it.endsWith('*'))) {
        const path = name.includes('/') ? join(ROOT, name) : join(import.meta.dirname, name);
        const exists = ['.test.ts', '.slow.test.ts'].some((ending) => existsSync(`${path}${ending}`));
        expect(exists, name).to.equal(true);
      }
    }
  });

  it('names every test of a row', () => {
    for (const file of files) {
      const { tests = [] } = rows.find(({ number }) => number === Number(file.slice(4, 6))) ?? {};
      const named = tests.some(
        (name) => name === file || (name.endsWith('*') && file.startsWith(name.slice(0, -1))),
      );
      expect(named, file).to.equal(true);
    }
  });
});
