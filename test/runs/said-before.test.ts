import { expect } from 'chai';
import fc from 'fast-check';
import { SaidBefore } from '../../server/runs/said-before.js';

const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });

describe('what a run says again that was taken up', () => {
  it('is told as far as it was not, or as a whole from where it differs', () => {
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 6 }), (said, pieces) => {
        const before = new SaidBefore([said]);
        const told = pieces.map((piece) => before.take(piece)).join('');
        const whole = pieces.join('');
        if (whole.startsWith(said)) expect(told).to.equal(whole.slice(said.length));
        else expect(told).to.equal(said.startsWith(whole) ? '' : whole);
      }),
    );
  });

  it('is nothing where all blocks are said again in order, however they come in pieces', () => {
    fc.assert(
      fc.property(
        fc.array(text),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
        (blocks, sizes) => {
          const before = new SaidBefore(blocks);
          const whole = blocks.join('');
          let told = '';
          for (let at = 0, i = 0; at < whole.length; i++) {
            const size = sizes[i % sizes.length]!;
            told += before.take(whole.slice(at, at + size));
            at += size;
          }
          expect(told).to.equal('');
          expect(before.left).to.equal('');
          expect(before.take('more')).to.equal('more');
        },
      ),
    );
  });

  it('is looked for behind what an interruption cut off, and what a process said silently', () => {
    const cutOff = new SaidBefore(['I bel', 'I think so', 'Bye']);
    expect(['I ', 'think', ' so', 'Bye', '!'].map((piece) => cutOff.take(piece))).to.deep.equal([
      '',
      '',
      '',
      '',
      '!',
    ]);
    const other = new SaidBefore(['one', 'two']);
    expect(
      ['three', 'two'].map((piece) => other.take(piece)),
      'all is new from there on',
    ).to.deep.equal(['three', 'two']);
  });
});
