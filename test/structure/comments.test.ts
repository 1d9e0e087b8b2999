import { expect } from 'chai';
import { commentsOf, riddlesIn } from './comments.js';
import { readSources } from './sources.js';

/** Folders whose comments are to be said anew yet, each with how many sentences. These numbers only fall. */
const NOT_YET: Readonly<Record<string, number>> = {};

describe('comments', () => {
  it('say who does what: no sentence begins with a clause that stands for its subject', () => {
    const found: Record<string, number> = {};
    const lines: string[] = [];
    for (const { path, text } of readSources('server', 'shared', 'client', 'playground', 'testing')) {
      const area = path
        .split('/')
        .slice(0, path.startsWith('server/') ? 2 : 1)
        .join('/');
      for (const comment of commentsOf(text))
        for (const sentence of riddlesIn(comment)) {
          found[area] = (found[area] ?? 0) + 1;
          if (!(area in NOT_YET)) lines.push(`${path}:${comment.line}: ${sentence}`);
        }
    }
    expect(lines).to.deep.equal([]);
    for (const [area, count] of Object.entries(NOT_YET))
      expect(found[area] ?? 0, `${area}: lower the number`).to.equal(count);
  });

  it('are found with their lines joined, and read without code and tags', () => {
    const source = [
      '/** What it is. Of `x` all.',
      ' * @param a Where it is */',
      'const a = 1; // Who',
      '// As is',
      '// done',
    ];
    const comments = commentsOf(source.join('\n'));
    expect(comments.map(({ line }) => line)).to.deep.equal([1, 4]);
    expect(comments.flatMap(riddlesIn)).to.deep.equal([
      'What it is.',
      'Of code all.',
      'Where it is',
      'As is done',
    ]);
  });
});
