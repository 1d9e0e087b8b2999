import { expect } from 'chai';
import { BoundedLanes, type LaneBound, type TakenLanes } from '../../server/due/bounded-lanes.js';

/** Takes as many lanes as there are. */
function takeAll(lanes: BoundedLanes, bounds: readonly LaneBound[]): TakenLanes[] {
  const taken: TakenLanes[] = [];
  for (let entered = lanes.enter(bounds); typeof entered !== 'number'; entered = lanes.enter(bounds))
    taken.push(entered);
  return taken;
}

describe('lanes of bounded work', () => {
  const all = { name: 'push', most: 8 };
  const ofPerson = (name: string): LaneBound => ({ name: `push of ${name}`, most: 2 });
  const toHost = (name: string): LaneBound => ({ name: `push to ${name}`, most: 4, stalls: true });

  it('are bounded for each person, for each host and for all', () => {
    const lanes = new BoundedLanes();
    expect(takeAll(lanes, [all, ofPerson('ann'), toHost('a')])).to.have.length(2);
    expect(takeAll(lanes, [all, ofPerson('ben'), toHost('a')])).to.have.length(2);
    expect(takeAll(lanes, [all, ofPerson('cy'), toHost('a')])).to.have.length(0);
    expect(takeAll(lanes, [all, ofPerson('cy'), toHost('b')])).to.have.length(2);
    expect(takeAll(lanes, [all, ofPerson('dee'), toHost('b')])).to.have.length(2);
    expect(takeAll(lanes, [all, ofPerson('eve'), toHost('c')])).to.have.length(0);
  });

  it('that are refused for one reason are not taken for another', () => {
    const lanes = new BoundedLanes();
    takeAll(lanes, [ofPerson('ann')]);
    for (let i = 0; i < 20; i++) expect(lanes.enter([all, ofPerson('ann')])).to.be.a('number');
    expect(takeAll(lanes, [all])).to.have.length(8);
  });

  it('to a host that did not answer in time are one, until it answers', () => {
    const lanes = new BoundedLanes();
    const [late, ...others] = takeAll(lanes, [toHost('a')]);
    for (const one of others) one.leave(false);
    late!.leave(true);
    const [one, ...none] = takeAll(lanes, [toHost('a')]);
    expect(none).to.deep.equal([]);
    expect(takeAll(lanes, [toHost('b')])).to.have.length(4);
    one!.leave(false);
    expect(takeAll(lanes, [toHost('a')])).to.have.length(4);
  });

  it('that are not in use are forgotten, where there are many', () => {
    const lanes = new BoundedLanes();
    const held = lanes.enter([ofPerson('ann')]) as TakenLanes;
    for (let i = 0; i < 3000; i++) (lanes.enter([ofPerson(`user${i}`)]) as TakenLanes).leave(false);
    expect(lanes.size).to.be.below(1100);
    expect(takeAll(lanes, [ofPerson('ann')])).to.have.length(1);
    held.leave(false);
  });
});
