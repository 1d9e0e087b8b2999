import { expect } from 'chai';
import fc from 'fast-check';
import { fittingId, idOf } from '../../server/ids.js';
import { composeId, partsOfId } from '../../shared/composed-id.js';
import { idProblem } from '../../shared/ids.js';

/** Texts of any units of UTF-16, half characters too, with many of the marks that ids are made of. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('~', '!', 't', '0', 'u', 'a', '.', '\0', '\ud83d', '\ude00', ':', '|') }),
  fc.constantFrom('', '~abc', '!h', '__proto__'),
);
const parts = fc.array(text, { minLength: 1, maxLength: 5 });

describe('composed ids', () => {
  it('are read as what they were written from, whatever that is', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const id = composeId(...given);
        expect(partsOfId(id)).to.deep.equal(given);
        // Signatures have ids between dots.
        expect(id).not.to.include('.');
      }),
      { numRuns: 2000 },
    );
  });

  it('are one for one list of parts alone', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(composeId(...one) === composeId(...other)).to.equal(isSame);
        expect(idOf(...one) === idOf(...other)).to.equal(isSame);
      }),
      { numRuns: 2000 },
    );
    expect(composeId('a', 'b')).not.to.equal(composeId('a~b'));
    expect(composeId('')).not.to.equal(composeId());
  });

  it('no other text is read as one', () => {
    fc.assert(
      fc.property(text, (given) => {
        const read = partsOfId(given);
        if (read !== null) expect(composeId(...read)).to.equal(given);
      }),
      { numRuns: 2000 },
    );
    for (const id of ['', '!', 'a!', '!x', '!u00', '!u0061', 'a!0', '~', 'a~', '!h', 'a\nb', '\ud83d'])
      expect(partsOfId(id), JSON.stringify(id)).to.equal(null);
  });

  it('that are to be kept have at most 120 bytes, a readable beginning, and nothing that a store or a header refuses', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(text, fc.string({ minLength: 100, maxLength: 5000 })), {
          minLength: 1,
          maxLength: 5,
        }),
        (given) => {
          const id = idOf(...given);
          expect(idProblem(id, 120)).to.equal(null);
          expect(id, 'the value of a header').to.match(/^[!-~]+$/);
          if (Buffer.byteLength(composeId(...given)) <= 120) expect(id).to.equal(composeId(...given));
          else expect(composeId(...given).startsWith(id.split('!', 1)[0]!)).to.equal(true);
        },
      ),
    );
    expect(idOf('a', 1)).to.equal('a~1');
    // Half of an escape before the mark of the hash would be the whole of another one.
    for (let at = 0; at < 80; at += 1) {
      const hashed = idOf(`${'a'.repeat(at)}!${'b'.repeat(200)}`);
      expect(partsOfId(hashed), hashed).to.equal(null);
    }
    const long = 'x'.repeat(4005);
    expect(idOf('main', `${long}a`)).not.to.equal(idOf('main', `${long}b`));
    expect(partsOfId(idOf('main', long)), 'a hash cannot be read').to.equal(null);
    expect(idOf('main', '\ud83d', long)).not.to.equal(idOf('main', '\ud83e', long));
  });
});

describe('ids of others that are made to fit', () => {
  it('are one for one id alone, half characters too', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        for (const id of [one, other]) expect(idProblem(fittingId(id))).to.equal(null);
        expect(fittingId(one) === fittingId(other)).to.equal(one === other);
      }),
    );
    expect(fittingId('a\ud83d')).not.to.equal(fittingId('a\ud83e'));
  });
});
