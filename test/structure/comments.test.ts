import { expect } from 'chai';
import { commentsOf, riddlesIn, textRiddlesIn } from './comments.js';
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

describe('texts of errors, the log and documents', () => {
  it('say who does what, as comments do', () => {
    const found = readSources('server', 'shared', 'client').flatMap(({ path, text }) =>
      textRiddlesIn(text).map((line) => ({ path, line })),
    );
    expect(found).to.deep.equal([]);
  });

  it('are found in each kind of quotes, and not in comments', () => {
    const source = [
      "message: 'What there was',",
      'const a = `path: Who knows`;',
      "fail('It ended. Whoever asks');",
      "// 'What there was'",
      "kind: 'What'",
      "'Nobody knows what'",
    ];
    expect(textRiddlesIn(source.join('\n'))).to.deep.equal([1, 2, 3]);
  });
});
