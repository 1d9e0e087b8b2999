import { createHmac, generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import type { AuthConfig } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { get, startGateway } from '../support/gateway.js';

const SECRET = 'a-shared-secret-of-more-than-32-bytes!';
const now = (): number => Math.floor(Date.now() / 1000);
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token with any header and a good HMAC. */
function forge(header: object, payload: object, secret = SECRET, hash = 'sha256'): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

const HS256 = { alg: 'HS256', typ: 'JWT' };
const claims = { sub: 'ada', iss: 'us', aud: 'gateway', exp: now() + 600 };
const auth: AuthConfig = { type: 'jwt', secret: SECRET, issuer: 'us', audience: 'gateway', requireExp: true };

const refused: Record<string, string> = {
  'no signature': `${encode({ alg: 'none' })}.${encode(claims)}.`,
  'no signature, written otherwise': `${encode({ alg: 'nOnE' })}.${encode(claims)}.`,
  'another algorithm of the same secret': forge({ alg: 'HS512' }, claims, SECRET, 'sha512'),
  'another secret': forge(HS256, claims, 'another-secret-of-more-than-32-bytes!'),
  'no expiry': forge(HS256, { ...claims, exp: undefined }),
  expired: forge(HS256, { ...claims, exp: now() - 60 }),
  'an expiry that is a text': forge(HS256, { ...claims, exp: String(now() + 600) }),
  'not valid yet': forge(HS256, { ...claims, nbf: now() + 600 }),
  'another issuer': forge(HS256, { ...claims, iss: 'them' }),
  'the issuer as a list': forge(HS256, { ...claims, iss: ['us'] }),
  'no issuer': forge(HS256, { ...claims, iss: undefined }),
  'another audience': forge(HS256, { ...claims, aud: 'others' }),
  'a critical extension': forge({ ...HS256, crit: ['x'], x: 1 }, claims),
  'no subject': forge(HS256, { ...claims, sub: '' }),
  'a subject that is a number': forge(HS256, { ...claims, sub: 7 }),
  'a payload that is a list': forge(HS256, [claims]),
  'more than 8 KiB': forge(HS256, { ...claims, pad: 'x'.repeat(9000) }),
  'two tokens': `${forge(HS256, claims)}.${forge(HS256, claims)}`,
};

describe('row 8: JSON Web Tokens', () => {
  it('that are forged or for others are refused, each with the same answer', async () => {
    const { url } = await startGateway({ app: echo, auth });
    const answers = new Set<string>();
    for (const [what, token] of Object.entries(refused)) {
      const { status, body } = await get(`${url}/status`, { authorization: `Bearer ${token}` });
      expect(status, what).to.equal(401);
      const { requestId, ...error } = body.error;
      answers.add(JSON.stringify(error));
    }
    expect([...answers]).to.have.length(1);
    expect((await get(`${url}/status`, { authorization: `Bearer ${forge(HS256, claims)}` })).status).to.equal(
      200,
    );
  });

  it('signed with the public key as a secret are refused, and a PEM needs its algorithms named', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
    const { url } = await startGateway({
      app: echo,
      auth: { type: 'jwt', secret: pem, algorithms: ['RS256'] },
    });
    const forged = forge(HS256, { sub: 'ada' }, pem);
    expect((await get(`${url}/status`, { authorization: `Bearer ${forged}` })).status).to.equal(401);
    const good = jwt.sign({ sub: 'ada' }, privateKey, { algorithm: 'RS256' });
    expect((await get(`${url}/status`, { authorization: `Bearer ${good}` })).status).to.equal(200);
    await startGateway({ app: echo, auth: { type: 'jwt', secret: pem } }).then(
      () => expect.fail('a PEM key without algorithms was taken'),
      (error) => expect(error).to.include({ code: 'INVALID_REQUEST' }),
    );
  });
});
