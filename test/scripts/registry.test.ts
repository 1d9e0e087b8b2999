import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { expect } from 'chai';
import { COMPONENTS } from '../../scripts/components-page.js';
import { ROOT } from '../support/program.js';

interface Item {
  readonly name: string;
  readonly type: string;
  readonly dependencies: readonly string[];
  readonly files: readonly {
    readonly path: string;
    readonly type: string;
    readonly target: string;
    readonly content: string;
  }[];
}

describe('the registry of components', () => {
  const folder = mkdtempSync(join(tmpdir(), 'registry-'));
  const read = (name: string): Item => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  before(() => {
    execFileSync(process.execPath, ['scripts/build-registry.mjs', folder], { cwd: ROOT });
  });
  after(() => rmSync(folder, { recursive: true }));

  it('has an item for each component, and lists them without their texts', () => {
    expect(readdirSync(folder).sort()).to.deep.equal(
      [...COMPONENTS, 'registry'].map((name) => `${name}.json`).sort(),
    );
    const { items } = JSON.parse(readFileSync(join(folder, 'registry.json'), 'utf8')) as { items: Item[] };
    for (const { name, files, ...said } of items) {
      const { $schema: _, files: own, ...item } = read(name) as Item & { $schema: string };
      expect({ name, ...said }).to.deep.equal(item);
      expect(files).to.deep.equal(own.map(({ content: _content, ...file }) => file));
    }
  });

  for (const name of COMPONENTS) {
    it(`has all that ${name} is made of, and names the packages that it needs`, () => {
      const { files, dependencies, type } = read(name);
      expect(type).to.equal('registry:block');
      const targets = new Set(files.map(({ target }) => target.replace(/\.tsx?$/, '')));
      const used = new Set<string>();
      for (const { target, content } of files)
        for (const [, from = ''] of content.matchAll(/\b(?:from|import)\s*\(?'([^']+)'/g)) {
          if (from.startsWith('.'))
            expect(targets, `${from} of ${target}`).to.include(posix.join(posix.dirname(target), from));
          else used.add(from.split('/')[0]!);
        }
      used.delete('react');
      expect([...used].sort()).to.deep.equal(dependencies);
      // What it looks like comes with it, and the variables that this is made from.
      const styles = files.flatMap(({ path }) => (path.endsWith('.css') ? [path] : []));
      expect(styles).to.include.members(['ui/ui.css', `${name}/${name}.css`]);
    });
  }
});
