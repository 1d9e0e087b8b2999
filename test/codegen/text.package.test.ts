import { expect } from 'chai';
import fc from 'fast-check';
import { commentText, docComment, Names, quote, typeName } from '../../server/codegen/text.js';

const awkward = fc.array(
  fc.constantFrom(
    '*/',
    '/*',
    "'",
    '"',
    '\\',
    '`',
    '${',
    '\n',
    '\r',
    '\u2028',
    '\0',
    '\u202e',
    '@ts-',
    '//',
    'a',
    '😀',
    '\ud800',
  ),
);
const text = awkward.map((parts) => parts.join(''));

describe('text in generated code', () => {
  it('is a string that means the same, on one line', () => {
    fc.assert(
      fc.property(text, (given) => {
        const code = quote(given);
        expect(new Function(`return ${code}`)()).to.equal(given);
        expect(code).not.to.match(/[\n\r\u2028\u2029\u202e]/);
      }),
    );
  });

  it('never leaves a comment, and says nothing to the compiler', () => {
    fc.assert(
      fc.property(fc.array(text), (paragraphs) => {
        const comment = docComment(paragraphs, '  ');
        if (comment === '') return;
        expect(comment.match(/\*\//g)).to.have.length(1);
        expect(comment)
          .to.match(/^ {2}\/\*\*[\s\S]* \*\/\n$/)
          .and.not.match(/@ts-|\u202e|\0/);
        expect(() => new Function(comment)).not.to.throw();
      }),
    );
  });

  it('keeps the paragraphs of a comment', () => {
    expect(docComment(['One.'])).to.equal('/** One. */\n');
    expect(docComment(['One.  \r\nTwo.', undefined, ' ', 'Three.'], '  ')).to.equal(
      '  /**\n   * One.\n   * Two.\n   *\n   * Three.\n   */\n',
    );
    expect(docComment([undefined, '\u202e'])).to.equal('');
    expect(commentText('a */ b')).to.equal('a * / b');
  });

  it('becomes a name of words', () => {
    expect(
      ['tasks:create', 'a_b-c.d', 'über', '9lives', '__schema0', 'v2beta', '', ':'].map(typeName),
    ).to.deep.equal(['TasksCreate', 'ABCD', 'Ber', 'T9Lives', 'Schema0', 'V2Beta', 'T', 'T']);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (given) => /^[A-Z][A-Za-z0-9]*$/.test(typeName(given))),
    );
  });

  it('is a name once', () => {
    const names = new Names();
    expect(['A', 'A', 'AN2', 'A'].map((name) => names.take(name))).to.deep.equal([
      'A',
      'AN2',
      'AN2N2',
      'AN3',
    ]);
  });
});
