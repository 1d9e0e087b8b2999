import { expect } from 'chai';
import fc from 'fast-check';
import { formatCursor, formatVector, parseCursor, parseVector } from '../../shared/cursor.js';

const epoch = fc.stringMatching(/^[A-Za-z0-9_-]{11}$/);
const number = fc.maxSafeNat();

describe('cursors', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(epoch, number, number, (e, term, seq) => {
        expect(parseCursor(formatCursor(e, term, seq))).to.deep.equal({ epoch: e, term, seq });
      }),
    );
  });

  for (const text of [
    '',
    '.',
    '..',
    'abc',
    'AAAAAAAAAAA.1',
    'AAAAAAAAAAA.1.-1',
    'AAAAAAAAAAA.1.1.1',
    'AAAAAAAAAAA.1.9007199254740993',
    ' AAAAAAAAAAA.1.1',
    'AAAAAAAAAAA.1.1\n',
    'AAAAAAAAAA.1.1',
    'AAAAAAAAAAA.1e3.1',
    'AAAAAAAAAAA.٣.1',
  ]) {
    it(`${JSON.stringify(text)} is none`, () => {
      expect(parseCursor(text)).to.equal(null);
    });
  }

  it('never throw, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        parseCursor(text);
        parseVector(text);
      }),
    );
  });
});

describe('vectors', () => {
  const id = fc.stringMatching(/^[A-Za-z0-9_.:@+-]{1,20}$/);
  const cursor = fc.tuple(epoch, number, number).map(([e, term, seq]) => formatCursor(e, term, seq));

  it('are read as they were written, with the sessions that have no cursor yet', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(id, fc.oneof(cursor, fc.constant(''))), { selector: ([name]) => name }),
        (pairs) => {
          expect([...parseVector(formatVector(pairs))!]).to.deep.equal(pairs);
        },
      ),
    );
  });

  it('are told from cursors', () => {
    expect(parseVector('AAAAAAAAAAA.1.1')).to.equal(null);
    expect(parseCursor(formatVector([['main', 'AAAAAAAAAAA.1.1']]))).to.equal(null);
  });

  it('keep what can be read of a broken one', () => {
    expect([...parseVector('~a=1,,=x,b,c=2=3')!]).to.deep.equal([
      ['a', '1'],
      ['c', '2=3'],
    ]);
  });
});
