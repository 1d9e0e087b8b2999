import { expect } from 'chai';
import { HeapRoom } from '../../server/limits/heap-room.js';
import { heapProblem } from '../../server/runtime/memory.js';
import { codeOf, refusalOf } from '../support/refused.js';
import { closeLater } from '../support/resources.js';

const MIB = 2 ** 20;

describe('room in the heap', () => {
  it('is wanting where it is full after a collection, until a twentieth of it is free again', async () => {
    let used = 0.5;
    const told: string[] = [];
    const events = {
      refuses: (share: number) => void told.push(`refuses at ${share}`),
      admits: () => void told.push('admits'),
    };
    const room = new HeapRoom(0.9, events, () => used);
    closeLater(room, (it) => it.stop());
    used = 0.99;
    room.look();
    expect(room.admit(), 'it may be garbage').to.equal(undefined);
    used = 0.89;
    room.collected();
    expect(room.admit()).to.equal(undefined);
    used = 0.92;
    room.collected();
    room.collected();
    expect(await refusalOf(() => room.admit())).to.include({
      ...{ code: 'OVERLOADED', option: 'limits.heapShare', retryAfterMs: 5000 },
    });
    used = 0.87;
    room.look();
    room.collected();
    expect(room.refusing).to.equal(true);
    used = 0.84;
    room.look();
    expect(room.admit()).to.equal(undefined);
    expect(told).to.deep.equal(['refuses at 0.92', 'admits']);
    used = 0.95;
    room.collected();
    expect(await codeOf(() => room.admit())).to.equal('OVERLOADED');
    room.stop();
    expect(room.admit()).to.equal(undefined);
  });

  it('is compared with what the machine gives: a heap that may outgrow it is told of, with what to set', () => {
    expect(heapProblem(450 * MIB, 512 * MIB)).to.equal(null);
    expect(heapProblem(2096 * MIB, 512 * MIB))
      .to.match(/^the heap may grow to 2096 MiB of 512 MiB/)
      .and.contain('--max-old-space-size=384');
  });
});
