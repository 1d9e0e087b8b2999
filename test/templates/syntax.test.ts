import { expect } from 'chai';
import fc from 'fast-check';
import { Lexer, type Token } from 'marked';
import { blocksOf, syntaxOf } from '../../templates/components/message/syntax.js';

/** The formulas, marks and footnotes of a text. */
function ownIn(text: string, hasFormulas = true): string[] {
  const own: string[] = [];
  const look = (tokens: readonly Token[] | undefined) => {
    for (const token of tokens ?? []) {
      if (token.type === 'formula') own.push(`${token.isBlock ? 'block' : 'inline'}: ${token.text}`);
      if (token.type === 'mark' || token.type === 'footnote')
        own.push(`${token.type}: ${token.label ?? token.text}`);
      if ('tokens' in token) look(token.tokens);
      if (token.type === 'list') for (const item of token.items) look(item.tokens);
    }
  };
  look(Lexer.lex(text, { gfm: true, extensions: syntaxOf(hasFormulas) }));
  return own;
}

describe('what is read besides Markdown', () => {
  it('has formulas in a line and alone, in each of their forms', () => {
    expect(ownIn('So $x^2$ and \\(y\\) are')).to.deep.equal(['inline: x^2', 'inline: y']);
    expect(ownIn('Then:\n\n$$\na = b\n$$\n\nand\n\n\\[\nc\n\\]\n')).to.deep.equal([
      'block: a = b',
      'block: c',
    ]);
    expect(ownIn('- item $n$')).to.deep.equal(['inline: n']);
  });

  it('takes no sums of money, code or half of a formula for one', () => {
    for (const text of ['It costs $5 and $10', '`$x$`', 'an open $x that goes on', '$ x $'])
      expect(ownIn(text), text).to.deep.equal([]);
  });

  it('has footnotes and their marks, with or without formulas', () => {
    const text = 'Bees dance[^1], as said[^why].\n\n[^1]: By Frisch.\n[^why]: In *1927*.';
    const wanted = ['mark: 1', 'mark: why', 'footnote: 1', 'footnote: why'];
    expect(ownIn(text)).to.deep.equal(wanted);
    expect(ownIn(text, false)).to.deep.equal(wanted);
    expect(ownIn('so $x$', false)).to.deep.equal([]);
  });
});

describe('a text that grows', () => {
  const syntax = syntaxOf(true);
  const PIECES = [
    ...[
      'word ',
      '**bold** ',
      '[a][b] ',
      '\n',
      '\n\n',
      '\n\n\n',
      '- one\n',
      '  - two\n',
      '1. first\n',
      '    code\n',
      '# Head\n',
    ],
    ...[
      '```\n',
      '~~~\n',
      '> said\n',
      '| a | b |\n|---|---|\n',
      '| 1 | 2 |\n',
      '---\n',
      '===\n',
      '$$\n',
      '<b>\n',
      '</b>\n',
    ],
    ...['[b]: https://example.com\n', '[^1]: note\n', '[^1] ', '-', '\t', '  ', '\\(', '\\['],
  ];

  it('has the blocks that it has when it is read at once', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }), (pieces) => {
        let text = '';
        let blocks: readonly Token[] = [];
        for (const piece of pieces) {
          text += piece;
          blocks = blocksOf(text, syntax, blocks);
          expect(JSON.stringify(blocks), JSON.stringify(text)).to.equal(
            JSON.stringify(blocksOf(text, syntax)),
          );
        }
      }),
      { numRuns: Number(process.env.FUZZ ?? 1) * 300 },
    );
  });

  it('keeps the blocks at its beginning', () => {
    const text = Array.from({ length: 20 }, (_, at) => `paragraph ${at}\n\n`).join('');
    const before = blocksOf(text, syntax);
    const after = blocksOf(`${text}and more`, syntax, before);
    expect(after.filter((block) => before.includes(block)).length).to.be.at.least(before.length - 2);
  });
});
