import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/program.js';

const textFiles = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(md|tsx?)$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name));

describe('what the pages do with turn.resumed', () => {
  it('is never to say nothing in a run that was interrupted: it may have said nothing yet', () => {
    const pages = [
      'README.md',
      ...['docs', 'examples', 'templates', 'skills', 'server/demo'].flatMap(textFiles),
    ];
    const wrong = pages.filter((page) => /!turn\.resumed(?!\?)/.test(readFileSync(join(ROOT, page), 'utf8')));
    expect(wrong).to.deep.equal([]);
  });
});
