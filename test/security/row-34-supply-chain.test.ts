import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/program.js';

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
}

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const manifest = read('package.json');
const locked = Object.entries(read('package-lock.json').packages as Record<string, LockedPackage>).filter(
  ([path]) => path.startsWith('node_modules/'),
);
const shipped = locked.filter(([, { dev, peer, devOptional }]) => !dev && !peer && !devOptional);

describe('row 34: what comes with the package', () => {
  it('is little: at most 35 packages', () => {
    expect(shipped.length, shipped.map(([path]) => path).join(' ')).to.be.within(1, 35);
  });

  it('runs nothing when it is installed', () => {
    expect(shipped.filter(([, it]) => it.hasInstallScript).map(([path]) => path)).to.deep.equal([]);
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(manifest.scripts).not.to.have.property(script);
  });

  it('is pinned by its content, from no address of ours', () => {
    for (const [path, { integrity, resolved }] of locked) {
      expect(integrity, path).to.match(/^sha512-/);
      expect(resolved ?? 'https://registry.npmjs.org/', path).to.match(/^https:\/\/registry\.npmjs\.org\//);
    }
  });

  it('is published by a list of files', () => {
    expect(manifest.files).to.be.an('array').that.includes('dist');
    for (const name of manifest.files) expect(name).not.to.match(/^(?:\.|\*|\/|test|bench)/);
  });

  it('may be used: its licences are permissive', () => {
    for (const [path, { license }] of shipped) expect(license, path).to.match(/MIT|ISC|BSD|Apache-2\.0|0BSD/);
  });
});
