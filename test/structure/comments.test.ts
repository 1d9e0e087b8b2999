import { expect } from 'chai';
import { commentsOf, riddlesIn } from './comments.js';
import { readSources } from './sources.js';

describe('comments', () => {
  it('say who does what: no sentence begins with a clause that stands for its subject', () => {
    const lines: string[] = [];
    for (const { path, text } of readSources('server', 'shared', 'client', 'playground', 'testing'))
      for (const comment of commentsOf(text))
        for (const sentence of riddlesIn(comment)) lines.push(`${path}:${comment.line}: ${sentence}`);
    expect(lines).to.deep.equal([]);
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
