import { expect } from 'chai';
import { bearerToken } from '../../server/auth/credentials.js';
import { refusalOf } from '../support/refused.js';

describe('bearerToken', () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    it(`reads a token after ${scheme}`, () => {
      expect(bearerToken({ authorization: `${scheme} abc.def` })).to.equal('abc.def');
    });
  }

  it('forgives more than one space', () => {
    expect(bearerToken({ authorization: 'Bearer  abc ' })).to.equal('abc');
  });

  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic dTpw', 'Bearerabc', 'abc']) {
    it(`finds no token in ${JSON.stringify(header)}`, () => {
      expect(bearerToken({ authorization: header })).to.equal(undefined);
    });
  }

  it('takes a token of 8 KiB and refuses a longer one', async () => {
    const longest = 'x'.repeat(8192);
    expect(bearerToken({ authorization: `Bearer ${longest}` })).to.equal(longest);
    const error = await refusalOf(() => bearerToken({ authorization: `Bearer ${'x'.repeat(9216)}` }));
    expect(error.code).to.equal('UNAUTHENTICATED');
    expect(JSON.stringify(error)).not.to.contain('xxx');
  });

  it('refuses a repeated header and a token with inner white space', async () => {
    expect((await refusalOf(() => bearerToken({ authorization: ['Bearer a', 'Bearer b'] }))).status).to.equal(
      401,
    );
    expect((await refusalOf(() => bearerToken({ authorization: 'Bearer a b' }))).status).to.equal(401);
  });
});
