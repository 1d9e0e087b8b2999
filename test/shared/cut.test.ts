import { expect } from 'chai';
import { cut } from '../../shared/cut.js';

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
