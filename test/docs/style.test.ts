import { expect } from 'chai';
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

describe('what the documents say', () => {
  for (const page of PAGES) {
    it(`is short to read: ${page}`, () => {
      const found = longIn(page);
      expect(found).to.deep.equal([]);
    });
  }

  it('is measured in sentences as they are read', () => {
    expect(sentencesOf('One two. `a b c` three: four (five.) Six')).to.deep.equal([
      'One two.',
      'code three:',
      'four (five.)',
      'Six',
    ]);
  });
});
