import { expect } from 'chai';
import type { GatewayError } from '../../shared/errors.js';
import { negotiateProtocol, PROTOCOL_RANGE, PROTOCOL_VERSION } from '../../shared/version.js';

describe('the protocol version', () => {
  it('is the highest that both sides know', () => {
    expect(negotiateProtocol(PROTOCOL_RANGE)).to.equal(PROTOCOL_VERSION);
    expect(negotiateProtocol({ min: 1, max: 9 }, { min: 2, max: 5 })).to.equal(5);
    expect(negotiateProtocol({ min: 1, max: 3 }, { min: 2, max: 5 })).to.equal(3);
  });

  for (const range of [
    { min: 6, max: 9 },
    { min: 0, max: 1 },
    { min: 5, max: 4 },
  ]) {
    it(`is refused for ${range.min} to ${range.max}, with what would do`, () => {
      let refused: Partial<GatewayError> = {};
      try {
        negotiateProtocol(range, { min: 2, max: 4 });
      } catch (error) {
        refused = error as GatewayError;
      }
      expect(refused).to.deep.include({
        code: 'PROTOCOL_VERSION_UNSUPPORTED',
        details: { supported: { min: 2, max: 4 } },
      });
    });
  }
});
