import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
// @ts-expect-error It has no types.
import { OWN } from '../../scripts/installed.mjs';
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
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly engines?: { readonly node?: string };
}

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const manifest = read('package.json');
const lockedIn = (folder: string): [string, LockedPackage][] =>
  Object.entries(read(`${folder}/package-lock.json`).packages as Record<string, LockedPackage>).filter(
    ([path]) => path.includes('node_modules/'),
  );
const locked = lockedIn('.');
const shipped = locked.filter(([, { dev, peer, devOptional }]) => !dev && !peer && !devOptional);

/** The least version that a range of Node's allows, as a number: 20.19 of `^20.19.0 || >=22.12.0`. */
const oldestOf = (range: string): number =>
  Math.min(
    ...range
      .split('||')
      .map((part) => /(\d+)(?:\.(\d+))?/.exec(part))
      .map((found) => Number(found?.[1] ?? 0) + Number(found?.[2] ?? 0) / 100),
  );
const OLDEST = oldestOf(manifest.engines.node);

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
    for (const [path, { integrity, resolved }] of ['.', ...OWN].flatMap(lockedIn)) {
      expect(integrity, path).to.match(/^sha512-/);
      expect(resolved ?? 'https://registry.npmjs.org/', path).to.match(/^https:\/\/registry\.npmjs\.org\//);
    }
  });

  it('is little in a clone too: at most 500 packages, all of them for the oldest Node that is served', () => {
    const here = locked.filter(
      ([, { os, cpu }]) => (os ?? ['linux']).includes('linux') && (cpu ?? ['x64']).includes('x64'),
    );
    expect(here.length).to.be.within(1, 500);
    for (const [path, { engines }] of locked)
      expect(oldestOf(engines?.node ?? '*'), path).to.be.at.most(OLDEST);
  });

  it('is published by a list of files', () => {
    expect(manifest.files).to.be.an('array').that.includes('dist');
    for (const name of manifest.files) expect(name).not.to.match(/^(?:\.|\*|\/|test|bench)/);
  });

  it('may be used: its licences are permissive', () => {
    for (const [path, { license }] of shipped) expect(license, path).to.match(/MIT|ISC|BSD|Apache-2\.0|0BSD/);
  });
});
