import { expect } from 'chai';
import { riddlesIn } from '../structure/comments.js';
import { PAGES, proseOf, readPage } from '../support/pages.js';

/** Words of a sentence, and characters of a paragraph: five lines of 120. */
const MOST_WORDS = 30;
const MOST_CHARACTERS = 600;

/** The paragraphs and items of a page, without tables, headings and pictures, as they are read. */
function paragraphsOf(page: string): string[] {
  return proseOf(readPage(page))
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)/)
    .map((text) => text.replace(/^\s*(?:[-*]|\d+\.)\s+/, '').trim())
    .filter((text) => text !== '' && !/^[|#<!]/.test(text))
    .map((text) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\s+/g, ' '));
}

/** Sentences; what stands behind a colon or a semicolon is read as one of its own. A piece of code is one word. */
const sentencesOf = (paragraph: string): string[] =>
  paragraph.replace(/`[^`]*`/g, 'code').split(/(?<=[.!?:;][)"*”]*)\s+/);

const longIn = (page: string): string[] =>
  paragraphsOf(page).flatMap((text) => [
    ...sentencesOf(text).filter((sentence) => sentence.split(' ').length > MOST_WORDS),
    ...(text.length > MOST_CHARACTERS ? [`${text.slice(0, 60)}… is ${text.length} characters`] : []),
  ]);

/** Pages of no feature: they tell of a task, are for looking things up, or lead to others. */
const OTHERS = [
  ...['README', 'configuration', 'deployment', 'documents', 'errors', 'getting-started'],
  ...['beside-other-tools', 'cookbook', 'deploy', 'faq', 'reference'],
  ...[
    'extending',
    'internals',
    'internals-stores',
    'limits',
    'performance',
    'app-protocol',
    'protocol',
    'protocols',
    'security',
    'troubleshooting',
    'versions',
  ],
];

/** Pages that are still to be read for it: all others are in the same English as the comments of the code. */
const UNREAD = new Set([
  ...['choose-a-store', 'cli', 'cluster', 'codegen', 'concepts', 'configuration', 'data', 'deploy'],
  ...['deployment', 'documents', 'durability', 'errors', 'faq', 'laboratory', 'limits', 'lives', 'metrics'],
  ...['observability', 'performance', 'plugins', 'protocol', 'recording', 'security', 'sessions'],
  ...['telemetry', 'testing', 'time', 'troubleshooting', 'unix-socket', 'versions', 'vocabulary'],
  ...['websocket', 'workers', 'guides/behind-a-proxy', 'guides/production'],
]);
const PLAIN = PAGES.filter((page) => /^(README|docs\/)/.test(page)).filter(
  (page) => !UNREAD.has(page.replace(/^docs\/|\.md$/g, '')),
);

/** Pages of a feature: what it is for, then a block, and at the end what happens where things go wrong. */
const FEATURES = PAGES.filter((path) => /^docs\/[^/]+$/.test(path))
  .map((path) => path.replace(/^docs\/|\.md$/g, ''))
  .filter((page) => !OTHERS.includes(page));

/** Whether a page begins with what it is for and a block of code, and ends with edge cases. */
function isWhole(page: string): boolean {
  const text = readPage(`docs/${page}.md`);
  const headings = [...proseOf(text).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  const beforeCode = text.slice(0, text.search(/^```/m)).match(/^## /gm) ?? [];
  return /^# .*\n\n[A-Z`[]/.test(text) && beforeCode.length <= 1 && headings.at(-1) === 'Edge cases';
}

describe('what the documents say', () => {
  for (const page of PAGES) {
    it(`is short to read: ${page}`, () => {
      const found = longIn(page);
      expect(found).to.deep.equal([]);
    });
  }

  for (const name of PLAIN) {
    it(`has its subject first: ${name}`, () => {
      const text = paragraphsOf(name).map((each) => each.replace(/\*\*/g, ''));
      expect(text.flatMap((each) => riddlesIn({ line: 0, text: each }))).to.deep.equal([]);
    });
  }

  it('begins with what a feature is for and a block, and ends with its edge cases', () => {
    expect(FEATURES.filter((page) => !isWhole(page))).to.deep.equal([]);
    expect(OTHERS.filter(isWhole), 'are no exceptions').to.deep.equal([]);
  });

  it('is measured in sentences as they are read', () => {
    expect(sentencesOf('One two. `a b c` three: four (five.) Six')).to.deep.equal([
      'One two.',
      'code three:',
      'four (five.)',
      'Six',
    ]);
  });
});
