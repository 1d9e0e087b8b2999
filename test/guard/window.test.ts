import { expect } from 'chai';
import fc from 'fast-check';
import { divided, ripe, windowOfAll } from '../../server/guard/window.js';
import { cases } from '../support/fuzz.js';

const check = (): void => {};

describe('the window of a guard', () => {
  it('is ripe by characters that nobody has checked, by whole sentences, or by time', () => {
    const chars = windowOfAll([{ check, window: { chars: 5 } }]);
    expect(ripe('abcd', 0, 0, chars)).to.equal(0);
    expect(ripe('abcde', 0, 0, chars)).to.equal(5);
    expect(ripe('abcdefg', 4, 0, chars)).to.equal(0);
    expect(ripe('abcd', 4, 10_000, chars)).to.equal(0);
    expect(ripe('abcd', 0, 500, chars)).to.equal(4);
    const sentences = windowOfAll([{ check, window: { sentences: 2 } }]);
    expect(ripe('One. Two', 0, 0, sentences)).to.equal(0);
    expect(ripe('One. Two! Three', 0, 0, sentences)).to.equal('One. Two! '.length);
    expect(ripe('「はい。」いいえ。', 0, 0, sentences)).to.equal(9);
    expect(ripe('One. Two! Three', 6, 0, sentences)).to.equal(0);
  });

  it('holds back the end of what was checked, and never half of a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 10 }), (text, overlap) => {
        const [said, kept] = divided(text, overlap);
        expect(said + kept).to.equal(text);
        expect(kept.length).to.be.within(Math.min(overlap, text.length), overlap + 1);
        expect(said).to.not.match(/[\ud800-\udbff]$/);
      }),
      { numRuns: cases(200) },
    );
  });

  it('of several guards is that of the app, with the longest end that one of them has to see again', () => {
    const ofGateway = { check, window: { chars: 10, overlap: 100 } };
    expect(windowOfAll([ofGateway, { check, window: { sentences: 1, overlap: 3 } }])).to.deep.equal({
      ...{ chars: 2000, sentences: 1, ms: 500, overlap: 100 },
    });
    expect(windowOfAll([ofGateway, { check }]).chars).to.equal(10);
  });
});
