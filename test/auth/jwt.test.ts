import { createHmac, createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import jwt from 'jsonwebtoken';
import { createAuthenticator } from '../../server/auth/authenticate.js';
import type { JwtAlgorithm, JwtRules, Person } from '../../server/auth/types.js';
import { refusalOf } from '../support/refused.js';
import { bearing, SECRET } from './fixtures.js';

const NOW = 1_700_000_000;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const newEc = (namedCurve: string) => () => generateKeyPairSync('ec', { namedCurve });
const newEd = () => generateKeyPairSync('ed25519');
/** RSA keys are dear: the tests make do with two. */
const rsaKeys = [rsa, generateKeyPairSync('rsa', { modulusLength: 2048 })];
let rsaAsked = 0;
const nextRsa = () => rsaKeys[rsaAsked++ % 2]!;
const ASYMMETRIC = new Map<string, () => { publicKey: KeyObject; privateKey: KeyObject }>([
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((name) => [name, nextRsa] as const),
  ['ES256', newEc('P-256')],
  ['ES384', newEc('P-384')],
  ['ES512', newEc('P-521')],
  ['EdDSA', newEd],
  ['Ed25519', newEd],
]);
const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

type Options = Partial<Omit<JwtRules, 'type'>> & { readonly secret?: string | Uint8Array };

async function identify(token: string, options: Options = {}): Promise<Person> {
  const auth = createAuthenticator({
    auth: { type: 'jwt', secret: SECRET, ...options },
    now: () => NOW * 1000,
  });
  return auth.authenticate(bearing(token));
}

function sign(claims: object = {}, options: jwt.SignOptions = {}): string {
  return jwt.sign({ sub: 'ada', iat: NOW, ...claims }, SECRET, options);
}

/** Signs by hand what the library would not write. */
function forge(header: object, payload: unknown, key = SECRET): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${part(header)}.${part(payload)}`;
  return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`;
}

describe('jwt authentication', () => {
  it('takes id, roles, tenant and email from the claims and keeps the payload', async () => {
    const claims = { roles: ['admin'], tenantId: 'acme', email: 'ada@example.com', plan: 'pro' };
    const { user, expiresAt } = await identify(sign(claims));
    expect(user).to.deep.equal({
      id: 'ada',
      roles: ['admin'],
      tenantId: 'acme',
      email: 'ada@example.com',
      claims: { sub: 'ada', iat: NOW, ...claims },
    });
    expect(expiresAt).to.equal(undefined);
  });

  it('expires when the token would no longer be accepted', async () => {
    const token = sign({ exp: NOW + 60 });
    expect((await identify(token)).expiresAt).to.equal((NOW + 65) * 1000);
    expect((await identify(token, { clockToleranceSeconds: 0 })).expiresAt).to.equal((NOW + 60) * 1000);
  });

  it('forgives the tolerance and no more', async () => {
    expect((await identify(sign({ exp: NOW - 4 }))).user.id).to.equal('ada');
    expect((await identify(sign({ nbf: NOW + 5 }))).user.id).to.equal('ada');
    expect((await refusalOf(() => identify(sign({ exp: NOW - 5 })))).code).to.equal('UNAUTHENTICATED');
  });

  it('does not take roles of another type for roles', async () => {
    expect((await identify(sign({ roles: 'administrator' }))).user).not.to.have.property('roles');
    expect((await identify(sign({ roles: ['a', 1] }))).user).not.to.have.property('roles');
  });

  it('matches one of several issuers, and one of several audiences of a token', async () => {
    expect((await identify(sign({ iss: 'b' }), { issuer: ['a', 'b'] })).user.id).to.equal('ada');
    expect((await identify(sign({ aud: ['x', 'y'] }), { audience: 'y' })).user.id).to.equal('ada');
  });

  it('verifies RSA and EC signatures with a public PEM, also as bytes', async () => {
    const rs = jwt.sign({ sub: 'ada' }, rsa.privateKey, { algorithm: 'RS256', noTimestamp: true });
    const es = jwt.sign({ sub: 'ada' }, ec.privateKey, { algorithm: 'ES256', noTimestamp: true });
    expect((await identify(rs, { secret: pemOf(rsa.publicKey), algorithms: ['RS256'] })).user.id).to.equal(
      'ada',
    );
    expect(
      (await identify(es, { secret: Buffer.from(pemOf(ec.publicKey)), algorithms: ['ES256'] })).user.id,
    ).to.equal('ada');
  });

  for (const algorithm of ['HS256', 'HS384', 'HS512', ...ASYMMETRIC.keys()] as JwtAlgorithm[]) {
    it(`verifies ${algorithm}`, async () => {
      const pair = ASYMMETRIC.get(algorithm)?.();
      const key = pair?.privateKey ?? createSecretKey(Buffer.from(SECRET));
      const token = await new SignJWT({ sub: 'ada' }).setProtectedHeader({ alg: algorithm }).sign(key);
      const secret = pair ? pemOf(pair.publicKey) : SECRET;
      expect((await identify(token, { secret, algorithms: [algorithm] })).user.id).to.equal('ada');
      const other = pair ? pemOf(ASYMMETRIC.get(algorithm)!().publicKey) : SECRET.toUpperCase();
      const refused = await refusalOf(() => identify(token, { secret: other, algorithms: [algorithm] }));
      expect(refused.code).to.equal('UNAUTHENTICATED');
    });
  }

  describe('refuses', () => {
    const none = `${forge({ alg: 'none' }, { sub: 'ada' }).split('.').slice(0, 2).join('.')}.`;
    const rsaOptions: Options = { secret: pemOf(rsa.publicKey), algorithms: ['RS256'] };
    const cases: readonly (readonly [string, string, Options?])[] = [
      ['alg none', none],
      ['alg None with a signature', forge({ alg: 'None' }, { sub: 'ada' })],
      ['HS512 when it is not allowed', sign({}, { algorithm: 'HS512' })],
      [
        'HS256 keyed with the RSA public PEM',
        forge({ alg: 'HS256' }, { sub: 'ada' }, pemOf(rsa.publicKey)),
        rsaOptions,
      ],
      ['another secret', forge({ alg: 'HS256' }, { sub: 'ada' }, 'another')],
      ['no exp when it is required', sign(), { requireExp: true }],
      ['an expired token', sign({ exp: NOW - 60 })],
      ['an exp that is a text', forge({ alg: 'HS256' }, { sub: 'ada', exp: `${NOW + 60}` })],
      ['a future nbf', sign({ nbf: NOW + 60 })],
      ['a wrong issuer', sign({ iss: 'evil' }), { issuer: 'my-app' }],
      ['a missing issuer', sign(), { issuer: 'my-app' }],
      [
        'an issuer in an array',
        forge({ alg: 'HS256' }, { sub: 'ada', iss: ['my-app'] }),
        { issuer: 'my-app' },
      ],
      ['an issuer that begins alike', sign({ iss: 'my-app.evil' }), { issuer: 'my-app' }],
      ['a wrong audience', sign({ aud: 'other' }), { audience: 'my-app' }],
      ['a missing audience', sign(), { audience: 'my-app' }],
      ['crit', forge({ alg: 'HS256', crit: ['exp'] }, { sub: 'ada' })],
      ['a missing sub', forge({ alg: 'HS256' }, {})],
      ['an empty sub', sign({ sub: '' })],
      ['a sub that is a number', forge({ alg: 'HS256' }, { sub: 42 })],
      ['a tenant that is a number', sign({ tenantId: 42 })],
      ['a payload that is an array', forge({ alg: 'HS256', typ: 'JWT' }, ['ada'])],
      ['a token of 9 KiB', sign({ padding: 'x'.repeat(9216) })],
      ['text that is no token', 'not.a.token'],
      ['a payload that is no JSON', 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.c2VjcmV0LXRleHQ.c2VjcmV0'],
    ];
    for (const [name, token, options] of cases) {
      it(name, async () => {
        const error = await refusalOf(() => identify(token, options));
        expect(error.code).to.equal('UNAUTHENTICATED');
        expect(error.message).to.equal('The credentials are not valid');
        expect(JSON.stringify(error) + String(error.cause))
          .not.to.contain(token)
          .and.not.to.contain('secret-text');
      });
    }
  });

  describe('refuses at construction', () => {
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const cases: readonly (readonly [string, Options, string])[] = [
      ['a PEM without named algorithms', { secret: pemOf(rsa.publicKey) }, 'auth.algorithms'],
      [
        'a PEM with HS256 among others',
        { secret: pemOf(rsa.publicKey), algorithms: ['RS256', 'HS256'] },
        'auth.algorithms',
      ],
      ['an RSA key for ES256', { secret: pemOf(rsa.publicKey), algorithms: ['ES256'] }, 'auth.algorithms'],
      ['a P-256 key for ES384', { secret: pemOf(ec.publicKey), algorithms: ['ES384'] }, 'auth.algorithms'],
      [
        'an Ed25519 key for ES256',
        { secret: pemOf(newEd().publicKey), algorithms: ['ES256'] },
        'auth.algorithms',
      ],
      [
        'a key of the type rsa-pss',
        {
          secret: pemOf(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey),
          algorithms: ['PS256'],
        },
        'auth.algorithms',
      ],
      [
        'HS256 with published keys',
        { secret: undefined, jwksUri: 'https://us.test/', algorithms: ['HS256'] } as never,
        'auth.algorithms',
      ],
      ['RS256 with a shared secret', { algorithms: ['RS256'] }, 'auth.secret'],
      ['an RSA key of 1024 bits', { secret: pemOf(small.publicKey), algorithms: ['RS256'] }, 'auth.secret'],
      ['a broken PEM', { secret: '-----BEGIN PUBLIC KEY-----\nAAAA', algorithms: ['RS256'] }, 'auth.secret'],
      ['no algorithm at all', { algorithms: [] }, 'auth.algorithms'],
    ];
    for (const [name, options, path] of cases) {
      it(name, async () => {
        const error = await refusalOf(() => identify('x', options));
        expect(error.code).to.equal('INVALID_REQUEST');
        expect(error.details).to.have.nested.property('[0].path', path);
        expect(JSON.stringify(error)).not.to.contain(SECRET);
      });
    }
  });
});
