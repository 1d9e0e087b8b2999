import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type Authenticator, type AuthRefusal, createAuthenticator } from '../../server/auth/authenticate.js';
import type { AuthConfig, AuthRequest, CustomAuth, HydrateUser } from '../../server/auth/types.js';
import { GatewayError } from '../../shared/errors.js';
import { codeOf } from '../support/refused.js';
import { bearing, SECRET } from './fixtures.js';

const TOKEN = 'static-token-of-more-than-32-characters';
const OTHER = 'another-token-of-more-than-32-characters';
const IP = '203.0.113.7';

function authenticator(auth: AuthConfig): Authenticator {
  return createAuthenticator({ auth });
}

function custom(validate: CustomAuth['validate']): Authenticator {
  return authenticator({ type: 'custom', validate });
}

describe('revalidate', () => {
  it('asks again with what was shown, and gives the present user', async () => {
    let roles = ['admin'];
    const asked: [string | undefined, AuthRequest][] = [];
    const auth = custom((token, from) => {
      asked.push([token, from]);
      return token === 'good' ? { valid: true, user: { id: 'ada', roles } } : { valid: false };
    });
    const raw = { socket: true };
    const headers = { cookie: 'sid=1' };
    const person = await auth.authenticate({ token: 'good', request: { headers, ip: IP, raw } });
    roles = [];
    const present = await auth.revalidate(person);
    expect(present.user).to.deep.equal({ id: 'ada', roles: [] });
    expect(asked[1]).to.deep.equal(['good', { headers, ip: IP }]);
    expect((await auth.revalidate(present)).user.roles).to.deep.equal([]);
    expect(JSON.stringify([person, present])).not.to.contain('good');
  });

  it('refuses what was withdrawn, and credentials that are of somebody else now', async () => {
    let answer: object = { valid: true, user: { id: 'ada' } };
    const auth = custom(() => answer as never);
    const person = await auth.authenticate(bearing('t'));
    answer = { valid: true, user: { id: 'eve' } };
    expect(await codeOf(() => auth.revalidate(person))).to.equal('UNAUTHENTICATED');
    answer = { valid: false };
    for (let index = 0; index < 12; index++)
      expect(await codeOf(() => auth.revalidate(person))).to.equal('UNAUTHENTICATED');
    answer = { valid: true, user: { id: 'ada' } };
    expect(await auth.authenticate(bearing('other')), 'asking again is no attempt').to.include({
      scope: person.scope,
    });
  });

  it('refuses a token that a function returns no more, and a user whom hydrateUser refuses', async () => {
    let token = TOKEN;
    const rotating = authenticator({ type: 'token', token: () => token });
    const person = await rotating.authenticate(bearing(TOKEN));
    expect((await rotating.revalidate(person)).user).to.deep.equal({ id: 'token' });
    token = OTHER;
    expect(await codeOf(() => rotating.revalidate(person))).to.equal('UNAUTHENTICATED');

    let banned = false;
    const hydrating = authenticator({
      type: 'jwt',
      secret: SECRET,
      hydrateUser: ({ user }) => {
        if (banned) throw new GatewayError({ code: 'UNAUTHENTICATED', message: 'banned' });
        return user;
      },
    });
    const ada = await hydrating.authenticate(bearing(jwt.sign({ sub: 'ada' }, SECRET)));
    expect((await hydrating.revalidate(ada)).user.id).to.equal('ada');
    banned = true;
    expect(await codeOf(() => hydrating.revalidate(ada))).to.equal('UNAUTHENTICATED');
  });

  it('leaves as they are those who cannot be asked about', async () => {
    const fixed = authenticator({ type: 'token', token: TOKEN });
    const person = await fixed.authenticate(bearing(TOKEN));
    expect(await fixed.revalidate(person)).to.equal(person);
    const auth = custom(() => ({ valid: false }));
    const named = auth.identify({ id: 'ada' });
    expect(await auth.revalidate(named)).to.equal(named);
  });
});

describe('shared identities', () => {
  it('are those without a user of their own, and services', async () => {
    const shared = async (config: AuthConfig, token?: string) =>
      (await authenticator(config).authenticate(bearing(token))).pays.kind === 'many';
    expect(await shared({ type: 'none' })).to.equal(true);
    expect(await shared({ type: 'token', token: TOKEN }, TOKEN)).to.equal(true);
    expect(await shared({ type: 'token', token: TOKEN, user: { id: 'ci' } }, TOKEN)).to.equal(false);
    expect(await shared({ type: 'token', token: TOKEN, user: { id: 'ci', service: true } }, TOKEN)).to.equal(
      true,
    );
    const hydrateUser: HydrateUser = ({ user }) => ({ ...user, service: true });
    expect(await shared({ type: 'jwt', secret: SECRET }, jwt.sign({ sub: 'b' }, SECRET))).to.equal(false);
    expect(
      await shared({ type: 'jwt', secret: SECRET, hydrateUser }, jwt.sign({ sub: 'b' }, SECRET)),
    ).to.equal(true);
    const claimed = jwt.sign({ sub: 'b', service: true }, SECRET);
    expect(await shared({ type: 'jwt', secret: SECRET }, claimed), 'a claim alone is no mark').to.equal(
      false,
    );
  });
});

describe('refusals', () => {
  const told = async (config: AuthConfig, token: string | undefined, cookie?: string) => {
    const refusals: AuthRefusal[] = [];
    const auth = createAuthenticator({ auth: config, onRefused: (refusal) => refusals.push(refusal) });
    const headers = cookie === undefined ? {} : { cookie };
    await codeOf(() => auth.authenticate({ token, request: { headers, ip: IP } }));
    return refusals;
  };

  it('are told with their reason and the address, never with the token', async () => {
    const token = jwt.sign({ sub: 'ada', iss: 'them' }, SECRET);
    const jwtAuth: AuthConfig = { type: 'jwt', secret: SECRET, issuer: 'us' };
    expect(await told(jwtAuth, token)).to.deep.equal([
      { code: 'UNAUTHENTICATED', reason: 'iss', address: IP },
    ]);
    const all = [
      ...(await told({ type: 'token', token: TOKEN }, `${TOKEN}x`)),
      ...(await told({ type: 'custom', validate: () => ({ valid: false }) }, TOKEN)),
      ...(await told({ type: 'custom', validate: () => ({ valid: false }) }, undefined, 'sid=1')),
    ];
    expect(all.map(({ reason }) => reason)).to.deep.equal([
      'another token',
      'validate did not return valid: true',
      'validate did not return valid: true',
    ]);
    expect(JSON.stringify(all)).not.to.contain(TOKEN);
  });

  it('of callers who showed nothing are no news', async () => {
    expect(await told({ type: 'token', token: TOKEN }, undefined)).to.deep.equal([]);
    expect(await told({ type: 'custom', validate: () => ({ valid: false }) }, undefined)).to.deep.equal([]);
  });
});
