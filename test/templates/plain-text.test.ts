import { expect } from 'chai';
import { plainText } from '../../templates/components/message/plain-text.js';

const CASES: Readonly<Record<string, readonly [given: string, shown: string]>> = {
  headings: ['# Heading one\n## Heading two\ntext', 'Heading one Heading two text'],
  'joined lines': ['# One ## Two is # 1 - [ ] three', 'One Two is # 1 three'],
  'bold and italic words': [
    'Found **two** parcels, _both_ *late*, ~~lost~~',
    'Found two parcels, both late, lost',
  ],
  'a mark that is cut off': ['Found **two pa', 'Found two pa'],
  code: ['Run `npm test`:\n```sh\nnpm test\n```', 'Run npm test: npm test'],
  'links and pictures': [
    'See [the page](https://a.example/x) ![a cat](https://a.example/c.png)',
    'See the page a cat',
  ],
  'lists and tasks': ['- one\n- [x] two\n1. three', 'one two three'],
  'a table': ['| a | b |\n|---|---|\n| 1 | 2 |', 'a b 1 2'],
  'a quotation': ['> said\n> so', 'said so'],
  'names and sums': ['snake_case_name is 2 * 3 * 4, file__name', 'snake_case_name is 2 * 3 * 4, file__name'],
  'an empty text': ['', ''],
};

describe('a text without the marks of Markdown', () => {
  for (const [name, [given, shown]] of Object.entries(CASES))
    it(`has ${name} as words`, () => expect(plainText(given)).to.equal(shown));
});
