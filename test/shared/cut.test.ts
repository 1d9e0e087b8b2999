import { expect } from 'chai';
import { cut, shown } from '../../shared/cut.js';

describe('cut', () => {
  it('leaves what fits, and shortens the rest to the length', () => {
    expect(cut('abc', 3)).to.equal('abc');
    expect(cut('abcd', 3)).to.equal('abc');
    expect(cut('abcd', 3, '…')).to.equal('ab…');
    expect(cut('abc', 0)).to.equal('');
  });

  it('never leaves half a character, at whichever place it cuts', () => {
    const text = 'a😀ä😀€😀'.repeat(3);
    for (let most = 1; most <= text.length; most++)
      for (const ellipsis of ['', '…']) {
        const short = cut(text, most, ellipsis);
        expect(short.length, `${most}`).to.be.within(Math.max(0, most - 1), most);
        expect(/\p{Cs}/u.test(short), `${most} ${JSON.stringify(short)}`).to.equal(false);
      }
  });
});

describe('shown', () => {
  it('has no control characters and no marks of direction, and is else as it was', () => {
    const ESC = String.fromCharCode(27);
    expect(shown(`a${ESC}[31mb\r\nc\td\u009b\u202e\u2066é😀`)).to.equal('a?[31mb\nc\td???é😀');
  });
});
