import { expect } from 'chai';
import fc from 'fast-check';
import { differenceOf } from '../../../playground/timeline/difference.js';

const text = fc
  .array(fc.constantFrom('one', 'two', 'three', 'four'), { maxLength: 12 })
  .map((all) => all.join(' '));

describe('the difference of two answers', () => {
  it('marks the words that only one has', () => {
    expect(differenceOf('It arrives on Monday, I hope', 'It arrives on Friday, I hope')).to.deep.equal([
      [
        { text: 'It arrives on', isShared: true },
        { text: ' Monday,', isShared: false },
        { text: ' I hope', isShared: true },
      ],
      [
        { text: 'It arrives on', isShared: true },
        { text: ' Friday,', isShared: false },
        { text: ' I hope', isShared: true },
      ],
    ]);
  });

  it('leaves both as they are, with the same pieces in both and none marked where they are the same', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [left, right] = differenceOf(one, other);
        const shared = (parts: typeof left) =>
          parts
            .map((part) => (part.isShared ? part.text.trim() : ''))
            .join(' ')
            .trim()
            .split(/\s+/);
        expect(left.map((part) => part.text).join('')).to.equal(one);
        expect(right.map((part) => part.text).join('')).to.equal(other);
        expect(shared(left)).to.deep.equal(shared(right));
        if (one === other) expect(left.every(({ isShared }) => isShared)).to.equal(true);
      }),
    );
  });

  it('marks nothing of long texts', () => {
    const long = 'word '.repeat(2000);
    expect(differenceOf(long, 'short')[0]).to.deep.equal([{ text: long, isShared: true }]);
  });
});
