import { expect } from 'chai';
import { ERROR_TABLE, type ErrorCode, GatewayError, isGatewayError } from '../../shared/errors.js';

describe('the error table', () => {
  for (const code of Object.keys(ERROR_TABLE) as ErrorCode[]) {
    it(`${code} has a status, a message and says whether a retry helps`, () => {
      const row: { status: number; message: string; retryable?: true } = ERROR_TABLE[code];
      const error = new GatewayError({ code });
      expect(error).to.include({ code, status: row.status, message: row.message });
      expect(error.retryable).to.equal(row.retryable);
      expect(row.status === 0 || (row.status >= 400 && row.status < 600)).to.equal(true);
    });
  }

  it('holds no codes but its own: not those of object members', () => {
    for (const code of ['constructor', '__proto__', 'toString', 'PAYMENT_DUE']) {
      expect(new GatewayError({ code })).to.include({ code, status: 500, message: code });
    }
  });

  it('tells nothing of an error that is not ours', () => {
    for (const value of [null, undefined, 'x', {}, new Error('x')])
      expect(isGatewayError(value)).to.equal(false);
  });
});
