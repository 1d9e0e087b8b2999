import { expect } from 'chai';
import { GatewayError } from '../../server/index.js';
import { LoopDelay } from '../../server/limits/loop-delay.js';
import { closeLater } from '../support/resources.js';

describe('a gateway whose event loop is late', () => {
  it('turns new work away first, then new readers, then connections', async () => {
    const block = (ms: number): void => {
      const end = performance.now() + ms;
      while (performance.now() < end);
    };
    const late = async (limitMs: number, isSo: (load: LoopDelay) => boolean): Promise<LoopDelay> => {
      const load = new LoopDelay(limitMs, { refuses() {}, admits() {} });
      closeLater(load, (it) => it.stop());
      load.start();
      while (!isSo(load)) {
        block(2 * limitMs);
        for (let i = 0; i < 3; i++) await new Promise(setImmediate);
      }
      return load;
    };
    const work = await late(100, ({ refusing, delayMs }) => refusing && delayMs < 400);
    expect(work.admit).to.throw(GatewayError).with.property('code', 'OVERLOADED');
    expect(() => work.admit(() => false)).to.throw(GatewayError);
    expect(() => work.admit(() => true), 'of a small tenant').to.not.throw();
    expect(work.admitReader).to.not.throw();
    expect([work.turnsAway, work.cuts]).to.deep.equal([false, false]);
    const readers = await late(100, (load) => {
      if (load.refusing) block(600);
      return load.turnsAway && load.delayMs < 1600;
    });
    expect(() => readers.admit(() => true)).to.throw(GatewayError);
    expect(readers.admitReader).to.throw(GatewayError).with.property('code', 'OVERLOADED');
    expect([readers.turnsAway, readers.cuts]).to.deep.equal([true, false]);
    const connections = await late(5, (load) => {
      block(200);
      return load.cuts;
    });
    expect(connections.admit).to.throw(GatewayError);
    connections.stop();
    expect(connections.admit).to.not.throw();
    expect(connections.cuts).to.equal(false);
  });
});
