import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createAuthenticator } from '../../server/auth/authenticate.js';
import type { JwtSecretSource } from '../../server/auth/types.js';
import { codeOf } from '../support/refused.js';
import { bearing } from './fixtures.js';

const ONE = 'the-first-secret-of-more-than-32-bytes';
const TWO = 'the-second-secret-of-more-than-32-bytes';

const signed = (secret: string): string => jwt.sign({ sub: 'ada' }, secret);

function authenticator(secret: JwtSecretSource, reported: unknown[] = [], exposed = false) {
  const onError = (error: unknown): void => void reported.push(error);
  return createAuthenticator({ auth: { type: 'jwt', secret }, onError, exposed });
}

describe('secrets of JSON Web Tokens', () => {
  it('are several during a rotation', async () => {
    const auth = authenticator([ONE, TWO]);
    for (const secret of [ONE, TWO])
      expect(await auth.authenticate(bearing(signed(secret)))).to.have.nested.property('user.id', 'ada');
    expect(await codeOf(() => auth.authenticate(bearing(signed(`${TWO}!`))))).to.equal('UNAUTHENTICATED');
  });

  it('come from a function, which withdraws them', async () => {
    let secret: string | string[] = ONE;
    const auth = authenticator(() => secret);
    const person = await auth.authenticate(bearing(signed(ONE)));
    secret = [TWO, ONE];
    expect((await auth.revalidate(person)).key).to.equal(person.key);
    await auth.authenticate(bearing(signed(TWO)));
    secret = TWO;
    expect(await codeOf(() => auth.revalidate(person))).to.equal('UNAUTHENTICATED');
    expect(await codeOf(() => auth.authenticate(bearing(signed(ONE))))).to.equal('UNAUTHENTICATED');
  });

  it('are never short, missing or empty ones of a function', async () => {
    const reported: Error[] = [];
    for (const given of ['short', '', undefined, [], ['']]) {
      const auth = authenticator(() => given as string, reported, true);
      expect(await codeOf(() => auth.authenticate(bearing(signed('short'))))).to.equal('UNAUTHENTICATED');
    }
    expect(reported.map(({ message }) => message)).to.include.members([
      'auth.secret: a secret has fewer than 32 bytes; make one with `openssl rand -base64 32`',
      'auth.secret returned no secret',
    ]);
  });

  it('cannot be checked while the function throws', async () => {
    const auth = authenticator(() => {
      throw new Error('the vault is shut');
    });
    expect(await codeOf(() => auth.authenticate(bearing(signed(ONE))))).to.equal('AUTH_UNAVAILABLE');
  });
});
