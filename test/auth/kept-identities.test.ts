import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createAuthenticator } from '../../server/auth/authenticate.js';
import { KeptIdentities } from '../../server/auth/kept-identities.js';
import type { AuthConfig, Person } from '../../server/auth/types.js';
import { codeOf } from '../support/refused.js';
import { personOf } from '../support/users.js';
import { bearing, SECRET } from './fixtures.js';

const NOW = 1_700_000_000_000;
const identityOf = (id: string, expiresAt?: number): Person =>
  personOf(id, { ...(expiresAt !== undefined && { expiresAt }) });

describe('identities kept by token', () => {
  it('are found until they expire, and not before they were found good', () => {
    const kept = new KeptIdentities();
    const ada = identityOf('ada', NOW + 1000);
    kept.keep('t', ada, NOW);
    expect(kept.find('t', NOW)).to.equal(ada);
    expect(kept.find('t', NOW + 999)).to.equal(ada);
    expect(kept.find('t', NOW + 1000)).to.equal(undefined);
    expect(kept.find('t', NOW - 1)).to.equal(undefined);
    expect(kept.find('T', NOW)).to.equal(undefined);
  });

  it('are bounded in number, and those in use stay', () => {
    const kept = new KeptIdentities({ entries: 100 });
    kept.keep('used', identityOf('ada'), NOW);
    for (let i = 0; i < 1000; i++) {
      kept.keep(`t${i}`, identityOf(`u${i}`), NOW);
      expect(kept.size).to.be.at.most(100);
      expect(kept.find('used', NOW)).to.have.nested.property('user.id', 'ada');
    }
    expect(kept.find('t0', NOW)).to.equal(undefined);
  });

  it('are bounded in the characters of their tokens', () => {
    const kept = new KeptIdentities({ characters: 10_000 });
    for (let i = 0; i < 100; i++) kept.keep(`${i}`.padEnd(1000, 'x'), identityOf('ada'), NOW);
    expect(kept.size).to.be.at.most(11);
  });
});

describe('a token that comes again', () => {
  let now = NOW;
  beforeEach(() => {
    now = NOW;
  });
  const authenticator = (auth: AuthConfig) => createAuthenticator({ auth, now: () => now });
  const claims = { sub: 'ada', iat: NOW / 1000, roles: ['reader'], plan: { seats: 1 } };

  it('is answered at once, as the same user', async () => {
    const auth = authenticator({ type: 'jwt', secret: SECRET });
    const token = jwt.sign(claims, SECRET);
    const first = await auth.authenticate(bearing(token));
    expect(auth.authenticate(bearing(token))).to.equal(first);
  });

  it('is refused from the moment it expires, the tolerance included', async () => {
    const auth = authenticator({ type: 'jwt', secret: SECRET, clockToleranceSeconds: 5 });
    const token = jwt.sign({ ...claims, exp: NOW / 1000 + 60 }, SECRET);
    await auth.authenticate(bearing(token));
    now = NOW + 64_999;
    expect(await auth.authenticate(bearing(token))).to.have.property('expiresAt', NOW + 65_000);
    now = NOW + 65_000;
    expect(await codeOf(() => auth.authenticate(bearing(token)))).to.equal('UNAUTHENTICATED');
  });

  it('is refused where the clock is set back to before it was good', async () => {
    const auth = authenticator({ type: 'jwt', secret: SECRET });
    const token = jwt.sign({ ...claims, nbf: NOW / 1000 }, SECRET);
    await auth.authenticate(bearing(token));
    now = NOW - 60_000;
    expect(await codeOf(() => auth.authenticate(bearing(token)))).to.equal('UNAUTHENTICATED');
  });

  it('is not taken for one with another signature', async () => {
    const auth = authenticator({ type: 'jwt', secret: SECRET });
    const token = jwt.sign(claims, SECRET);
    await auth.authenticate(bearing(token));
    const [head, body, signature = ''] = token.split('.');
    const other = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    expect(await codeOf(() => auth.authenticate(bearing(`${head}.${body}.${other}`)))).to.equal(
      'UNAUTHENTICATED',
    );
  });

  it('is of a user whom a handler cannot have changed meanwhile', async () => {
    const auth = authenticator({ type: 'jwt', secret: SECRET });
    const token = jwt.sign(claims, SECRET);
    const { user } = (await auth.authenticate(bearing(token))) as { user: any };
    expect(() => user.roles.push('admin')).to.throw(TypeError);
    expect(() => (user.claims.plan.seats = 99)).to.throw(TypeError);
    expect(() => (user.id = 'eve')).to.throw(TypeError);
    expect(await auth.authenticate(bearing(token))).to.have.deep.nested.property('user.roles', ['reader']);
  });

  it("leaves the user of the configuration as it was: it is the host's own", async () => {
    const user = { id: 'ci', roles: ['deploy'] };
    const auth = authenticator({ type: 'token', token: SECRET, user });
    await auth.authenticate(bearing(SECRET));
    expect(Object.isFrozen(user)).to.equal(false);
  });

  it('is asked about each time where the host decides, so that a withdrawn one stops at once', async () => {
    let good = true;
    const custom = authenticator({ type: 'custom', validate: () => ({ valid: good, user: { id: 'ada' } }) });
    await custom.authenticate(bearing(SECRET));
    good = false;
    expect(await codeOf(() => custom.authenticate(bearing(SECRET)))).to.equal('UNAUTHENTICATED');
  });

  it('is asked about each time where the host hydrates its user', async () => {
    let roles = ['admin'];
    const hydrateUser = () => ({ id: 'ada', roles });
    for (const [auth, token] of [
      [authenticator({ type: 'jwt', secret: SECRET, hydrateUser }), jwt.sign(claims, SECRET)],
      [authenticator({ type: 'token', token: SECRET, hydrateUser }), SECRET],
    ] as const) {
      roles = ['admin'];
      expect(await auth.authenticate(bearing(token))).to.have.deep.nested.property('user.roles', ['admin']);
      roles = [];
      expect(await auth.authenticate(bearing(token))).to.have.deep.nested.property('user.roles', []);
    }
  });

  it('is of the scope that a function says now', async () => {
    let scope = 'red';
    const auth = createAuthenticator({ auth: { type: 'jwt', secret: SECRET }, sessionScope: () => scope });
    const token = jwt.sign({ sub: 'ada' }, SECRET);
    expect(await auth.authenticate(bearing(token))).to.have.property('scope', 'red');
    scope = 'blue';
    expect(await auth.authenticate(bearing(token))).to.have.property('scope', 'blue');
  });

  it('counts for nothing on an address that failed too often, where it is short enough to be guessed', async () => {
    const short = 'short-token';
    const auth = authenticator({ type: 'token', token: [short, SECRET] });
    for (const token of [short, SECRET]) await auth.authenticate(bearing(token));
    for (let i = 0; i < 10; i++) {
      expect(await codeOf(() => auth.authenticate(bearing(`wrong-${i}`)))).to.equal('UNAUTHENTICATED');
    }
    expect(await codeOf(() => auth.authenticate(bearing(short)))).to.equal('RATE_LIMITED');
    expect(auth.authenticate(bearing(SECRET))).to.have.nested.property('user.id', 'token');
    expect(await codeOf(() => auth.authenticate(bearing('wrong')))).to.equal('RATE_LIMITED');
  });
});
