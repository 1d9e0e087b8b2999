import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { linksOf, PAGES, readPage } from '../support/pages.js';
import { ROOT } from '../support/program.js';

const { name: PACKAGE, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
};
const entries = Object.keys(exports).map((path) => path.replace(/^\./, PACKAGE));
/** What there is of a kind, such as `stores`, by its last name. */
const exported = (kind: string): string[] =>
  entries.flatMap((entry) => (entry.startsWith(`${PACKAGE}/${kind}/`) ? [entry.split('/')[2]!] : []));
const folders = (path: string): string[] =>
  readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((it) => (it.isDirectory() ? [it.name] : []));

/** Entries as a page imports them, or names them. */
const ENTRY = new RegExp(`['"\`](${PACKAGE}(?:/[\\w./-]+)?)['"\`]`, 'g');

/** Where a page says which stores there are. */
const STORES: readonly (readonly [page: string, line: RegExp])[] = [
  ['README.md', /^\| keep sessions.*$/m],
  ['docs/concepts.md', /^\| store \|.*$/m],
  ['docs/internals.md', /^ +stores {2,}.*$/m],
  ['docs/internals.md', /^\| `server\/stores` \|.*$/m],
];

/** Each name of a line that is neither code nor a link, as the package has it where it does. */
function namesIn(line: string, known: readonly string[]): string[] {
  const prose = line.replace(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, '');
  const names = prose.match(/\bmemory\b|\b[A-Z]\w*/g) ?? [];
  return names.map((name) => known.find((it) => name.toLowerCase().startsWith(it)) ?? name);
}

describe('what the documents say there is', () => {
  it('are the entries of the package, each of them', () => {
    const named = PAGES.flatMap((page) =>
      [...readPage(page).matchAll(ENTRY)].map(([, entry]) => [entry!, page] as const),
    );
    expect(named.filter(([entry]) => !entries.includes(entry))).to.deep.equal([]);
    const names = new Set(named.map(([entry]) => entry));
    expect(entries.filter((entry) => !entry.endsWith('.json') && !names.has(entry))).to.deep.equal([]);
  });

  for (const [page, pattern] of STORES) {
    it(`are the stores that there are: ${page}, ${pattern.source}`, () => {
      const [line] = pattern.exec(readPage(page)) ?? [];
      expect(line, 'there is no such line').to.be.a('string');
      // `socket` keeps nothing: it reaches the store of another process.
      const stores = ['memory', ...exported('stores').filter((store) => store !== 'socket')];
      expect(namesIn(line!, stores)).to.have.members(stores);
    });
  }

  it('are stores by their names, of which there may be one more tomorrow', () => {
    const counted = PAGES.flatMap((page) => {
      const found =
        readPage(page).match(
          /\b(?:two|both|either|neither|three|four)\s(?:of\s(?:the|these)\s)?stores?\b/gi,
        ) ?? [];
      return found.map((words) => `${page}: ${words}`);
    });
    expect(counted).to.deep.equal([]);
  });

  it('are the plugins that there are, each with its page', () => {
    const pages = exported('plugins').map((plugin) => `docs/${plugin}.md`);
    const [list] = /^These come with the package:[\s\S]*?\n\n/m.exec(readPage('docs/plugins.md')) ?? [''];
    const listed = [...list.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, page]) => `docs/${page}`);
    expect(listed).to.have.members(pages);
    for (const from of ['README.md', 'docs/README.md'])
      expect(linksOf(from).map(({ path }) => path)).to.include.members(pages);
  });

  it('are the transports that there are', () => {
    const [line] = /^\| `server\/transports` \|.*$/m.exec(readPage('docs/internals.md')) ?? [''];
    const named = [...line.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
    expect(named).to.have.members(folders('server/transports'));
  });
});
