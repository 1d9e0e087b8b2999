import { expect } from 'chai';
import { AddressGate } from '../../server/limits/address-gate.js';

describe('what one address has under way', () => {
  const address = (n: number): string => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;

  it('is bounded, and each address by itself', () => {
    const gate = new AddressGate(2, 'limits.requestsPerAddress');
    const [first] = [gate.enter('10.0.0.1'), gate.enter('10.0.0.1')];
    expect(() => gate.enter('10.0.0.1'))
      .to.throw('limits.requestsPerAddress')
      .with.property('code', 'TOO_MANY_CONNECTIONS');
    gate.enter('10.0.0.2');
    first();
    gate.enter('10.0.0.1');
    expect(() => gate.enter('10.0.0.1')).to.throw('at a time');
  });

  it('is remembered for no more addresses than have something under way, and a thousand or as many again', () => {
    const gate = new AddressGate(1, 'limits.requestsPerAddress');
    for (let n = 0; n < 3000; n++) gate.enter(address(n))();
    expect(gate.size).to.be.at.most(1000);
    const leave = Array.from({ length: 1500 }, (_, n) => gate.enter(address(n)));
    for (let n = 0; n < 3000; n++) gate.enter(address(20_000 + n))();
    expect(gate.size).to.be.within(1500, 3000);
    expect(() => gate.enter(address(1499))).to.throw('at a time');
    for (const one of leave) one();
    gate.enter(address(1499));
    for (let n = 0; n < 3000; n++) gate.enter(address(40_000 + n))();
    expect(gate.size).to.be.at.most(3000);
    expect(() => gate.enter(address(1499))).to.throw('at a time');
  });
});
