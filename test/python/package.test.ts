import { readFileSync } from 'node:fs';
import { expect } from 'chai';

describe('the Python package', () => {
  it('has the version of the npm package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(readFileSync('python/pyproject.toml', 'utf8')).to.contain(`\nversion = "${version}"\n`);
  });
});
