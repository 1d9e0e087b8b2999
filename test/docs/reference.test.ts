import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readPage } from '../support/pages.js';
import { ROOT } from '../support/program.js';

/** The declarations of the package, which `npm run api` writes from its types. */
const TYPES = ['index', 'shared']
  .map((name) => readFileSync(join(ROOT, `api/${name}.api.md`), 'utf8'))
  .join('\n');

/** The members of a class or an interface, with those of what it extends. */
function membersOf(type: string): string[] {
  const [declared] = new RegExp(`^(?:export )?(?:class|interface) ${type}\\b[\\s\\S]*?^}`, 'm').exec(
    TYPES,
  ) ?? [''];
  const names = [...declared.matchAll(/^ {4}(?:readonly |get )?(\w+)[?<(:]/gm)].map(([, name]) => name!);
  const [, bases = ''] =
    /^(?:export )?(?:class|interface) \w+(?:<.*>)? extends ([\w, ]+)/.exec(declared) ?? [];
  const inherited = bases
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
    .flatMap(membersOf);
  return [...new Set([...names, ...inherited])].filter((name) => name !== 'constructor');
}

/** The members that a section of the page lists. */
function listedBelow(heading: string): string[] {
  const [, section = ''] = readPage('docs/reference.md').split(`\n## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `(\w+)(?:\(\))?` \|/gm)].map(([, name]) => name!);
}

describe('the page of reference', () => {
  for (const [heading, type] of [
    ['The gateway', 'Gateway'],
    ["A session's handle", 'SessionHandle'],
    ['A turn', 'Turn'],
  ] as const) {
    it(`lists each member of ${type}, once, and no other`, () => {
      const members = membersOf(type);
      expect(members.length).to.be.above(10);
      expect(listedBelow(heading)).to.have.members(members);
    });
  }
});
