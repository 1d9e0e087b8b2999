import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { jwtVerify } from 'jose';
import jwt from 'jsonwebtoken';
import { type Authenticator, createAuthenticator } from '../../server/auth/authenticate.js';
import type {
  AuthConfig,
  AuthRequest,
  CustomAuth,
  HydrateUser,
  ValidAuthResult,
} from '../../server/auth/types.js';
import { GatewayError } from '../../shared/errors.js';
import { holdTimers } from '../support/held-timers.js';
import { codeOf, refusalOf } from '../support/refused.js';
import { bearing, request, SECRET } from './fixtures.js';

const TOKEN = 'static-token-of-more-than-32-characters';
const OTHER = 'another-token-of-more-than-32-characters';

function authenticator(auth: AuthConfig, onError?: (error: unknown) => void): Authenticator {
  return createAuthenticator({ auth, onError });
}

function custom(validate: CustomAuth['validate'], onError?: (error: unknown) => void): Authenticator {
  return authenticator({ type: 'custom', validate }, onError);
}

async function failTimes(times: number, auth: Authenticator, ip?: string): Promise<void> {
  for (let index = 0; index < times; index++) {
    expect(await codeOf(() => auth.authenticate(bearing(`wrong-${index}`, ip)))).to.equal('UNAUTHENTICATED');
  }
}

describe('authenticate', () => {
  describe('none', () => {
    it('makes everyone anonymous, whatever token they bring', () => {
      const auth = authenticator({ type: 'none' });
      const person = {
        user: { id: 'anonymous' },
        ...{ id: 'anonymous', key: '[null,"anonymous"]', scope: '[null,"anonymous"]' },
        pays: { key: '[null,"anonymous"]', kind: 'many' },
      };
      expect(auth.authenticate(bearing(undefined))).to.deep.equal(person);
      expect(auth.authenticate(bearing('x'.repeat(20_000)))).to.deep.equal(person);
    });
  });

  describe('token', () => {
    it('answers synchronously with the user token', () => {
      const auth = authenticator({ type: 'token', token: TOKEN });
      expect(auth.authenticate(bearing(TOKEN))).to.deep.include({ user: { id: 'token' } });
    });

    it('carries the configured user', () => {
      const user = { id: 'ci', roles: ['deploy'], tenantId: 'acme' };
      const auth = authenticator({ type: 'token', token: TOKEN, user });
      expect(auth.authenticate(bearing(TOKEN))).to.deep.equal({
        user,
        ...{ id: 'ci', key: '["acme","ci"]', scope: '["acme","ci"]' },
        pays: { key: '["acme","ci"]', kind: 'person' },
      });
    });

    it('accepts each token of a rotation', async () => {
      const auth = authenticator({ type: 'token', token: [TOKEN, OTHER] });
      expect(auth.authenticate(bearing(TOKEN))).to.have.nested.property('user.id', 'token');
      expect(auth.authenticate(bearing(OTHER))).to.have.nested.property('user.id', 'token');
      expect(await codeOf(() => auth.authenticate(bearing(`${TOKEN},${OTHER}`)))).to.equal('UNAUTHENTICATED');
    });

    it('asks a function at each call, so that a rotated token is refused at once', async () => {
      let token: string | string[] = TOKEN;
      const auth = authenticator({ type: 'token', token: () => token });
      expect(auth.authenticate(bearing(TOKEN))).to.have.nested.property('user.id', 'token');
      token = [OTHER];
      expect(await codeOf(() => auth.authenticate(bearing(TOKEN)))).to.equal('UNAUTHENTICATED');
      expect(auth.authenticate(bearing(OTHER))).to.have.nested.property('user.id', 'token');
    });

    it('awaits a function that promises', async () => {
      const auth = authenticator({ type: 'token', token: async () => [OTHER, TOKEN] });
      expect(await auth.authenticate(bearing(TOKEN))).to.have.nested.property('user.id', 'token');
      expect(await codeOf(() => auth.authenticate(bearing('wrong')))).to.equal('UNAUTHENTICATED');
    });

    for (const given of [undefined, '', [], [''], null]) {
      it(`lets nobody in when the function returns ${JSON.stringify(given)}, and blames no caller`, async () => {
        const errors: unknown[] = [];
        const auth = authenticator({ type: 'token', token: () => given as string }, (error) =>
          errors.push(error),
        );
        for (const token of ['undefined', 'null', 'x', ...Array<string>(20).fill(TOKEN)]) {
          expect(await codeOf(() => auth.authenticate(bearing(token)))).to.equal('UNAUTHENTICATED');
        }
        expect(errors).to.have.length(23);
      });
    }

    it('refuses prefixes, other lengths and a missing token', async () => {
      const auth = authenticator({ type: 'token', token: TOKEN });
      for (const token of [
        TOKEN.slice(1),
        TOKEN.slice(0, -1),
        `${TOKEN}x`,
        TOKEN.toUpperCase(),
        'x'.repeat(9000),
      ]) {
        expect(await codeOf(() => auth.authenticate(bearing(token)))).to.equal('UNAUTHENTICATED');
      }
      const missing = await refusalOf(() => auth.authenticate(bearing('')));
      expect(missing.message).to.equal('Authentication is required');
      expect(missing.status).to.equal(401);
    });
  });

  describe('custom', () => {
    it('passes token, headers, ip and the raw request, and runs without a token too', async () => {
      const seen: [string | undefined, AuthRequest][] = [];
      const auth = custom(async (token, from) => {
        seen.push([token, from]);
        return { valid: true, user: { id: 'eve' } };
      });
      const from = { headers: { cookie: 'sid=1' }, ip: '192.0.2.1', raw: { socket: true } };
      await auth.authenticate({ request: from });
      await auth.authenticate({ token: 'abc', request: from });
      expect(seen).to.deep.equal([
        [undefined, from],
        ['abc', from],
      ]);
    });

    it('stays synchronous when validate does', () => {
      const auth = custom(() => ({ valid: true, user: { id: 'eve' }, expiresAt: Date.now() + 60_000 }));
      expect(auth.authenticate(bearing('abc')))
        .to.have.property('expiresAt')
        .that.is.a('number');
    });

    const bad: readonly (readonly [string, unknown])[] = [
      ['says no', { valid: false }],
      ['says no with a user', { valid: false, user: { id: 'eve' } }],
      ['answers a truthy text', { valid: 'yes', user: { id: 'eve' } }],
      ['answers nothing', undefined],
      ['answers null', null],
      ['names no user', { valid: true }],
      ['names a user without id', { valid: true, user: { name: 'eve' } }],
      ['names a user with a number for id', { valid: true, user: { id: 7 } }],
      ['gives roles as a text', { valid: true, user: { id: 'eve', roles: 'administrator' } }],
      ['gives a number for a tenant', { valid: true, user: { id: 'eve', tenantId: 7 } }],
      ['gives an expiry in seconds', { valid: true, user: { id: 'eve' }, expiresAt: 1_900_000_000 }],
      ['gives a date for an expiry', { valid: true, user: { id: 'eve' }, expiresAt: new Date() }],
    ];
    for (const [name, result] of bad) {
      it(`refuses when validate ${name}`, async () => {
        expect(await codeOf(() => custom(() => result as never).authenticate(bearing('abc')))).to.equal(
          'UNAUTHENTICATED',
        );
        expect(
          await codeOf(() => custom(async () => result as never).authenticate({ request: request() })),
        ).to.equal('UNAUTHENTICATED');
      });
    }

    for (const [name, validate] of [
      ['throws', () => expect.fail(`bad token ${TOKEN}`)],
      ['rejects', async () => expect.fail(`bad token ${TOKEN}`)],
    ] as const) {
      it(`refuses when validate ${name}, and logs it without the token`, async () => {
        const errors: unknown[] = [];
        const error = await refusalOf(() =>
          custom(validate, (e) => errors.push(e)).authenticate(bearing(TOKEN)),
        );
        expect(error).to.include({ code: 'AUTH_UNAVAILABLE', status: 503, retryable: true });
        expect(JSON.stringify(error) + String(error.cause)).not.to.contain(TOKEN);
        expect(errors).to.have.length(1);
        const logged = errors[0] as Error;
        expect(`${logged.message}${logged.stack}`).to.contain('[token]').and.not.to.contain(TOKEN);
      });
    }

    it('passes on a GatewayError of the host, uncounted, unless it holds the token', async () => {
      const away = custom(() => {
        throw new GatewayError({ code: 'OVERLOADED' });
      });
      for (let index = 0; index < 20; index++) {
        expect(await codeOf(() => away.authenticate(bearing(TOKEN)))).to.equal('OVERLOADED');
      }
      const leaky = custom(() => {
        throw new GatewayError({ code: 'OVERLOADED', details: { token: TOKEN } });
      });
      const told = await refusalOf(() => leaky.authenticate(bearing(TOKEN)));
      expect(told.code).to.equal('AUTH_UNAVAILABLE');
      expect(JSON.stringify(told)).not.to.contain(TOKEN);
    });

    it('refuses when validate hangs for 10 s', async () => {
      const { clock, left } = holdTimers();
      const errors: unknown[] = [];
      const auth = custom(
        () => new Promise(() => {}),
        (error) => errors.push(error),
      );
      const code = codeOf(() => auth.authenticate(bearing('abc')));
      await clock.tickAsync(9_999);
      expect(errors).to.have.length(0);
      await clock.tickAsync(1);
      expect(await code).to.equal('AUTH_UNAVAILABLE');
      expect(errors).to.have.length(1);
      expect(left('server/auth')).to.deep.equal([]);
    });
  });

  describe('hydrateUser', () => {
    const jwtToken = jwt.sign({ sub: 'ada', exp: Math.floor(Date.now() / 1000) + 600 }, SECRET);
    const kinds: readonly (readonly [
      string,
      (hydrateUser: HydrateUser) => AuthConfig,
      string | undefined,
      string,
    ])[] = [
      ['none', (hydrateUser) => ({ type: 'none', hydrateUser }), undefined, 'anonymous'],
      ['token', (hydrateUser) => ({ type: 'token', token: TOKEN, hydrateUser }), TOKEN, 'token'],
      ['jwt', (hydrateUser) => ({ type: 'jwt', secret: SECRET, hydrateUser }), jwtToken, 'ada'],
      [
        'custom',
        (hydrateUser) => ({
          type: 'custom',
          validate: () => ({ valid: true, user: { id: 'eve' } }),
          hydrateUser,
        }),
        'abc',
        'eve',
      ],
    ];
    for (const [name, config, token, id] of kinds) {
      it(`replaces the user of ${name}, identity fields included`, async () => {
        const seen: ValidAuthResult[] = [];
        const auth = authenticator(
          config(async (result) => {
            seen.push(result);
            return { id: `user-${result.user.id}`, tenantId: 'acme', roles: ['admin'], plan: 'pro' };
          }),
        );
        const person = await auth.authenticate(bearing(token));
        expect(seen[0]).to.deep.include({ valid: true });
        expect(seen[0]?.user.id).to.equal(id);
        expect(person.user).to.deep.equal({
          id: `user-${id}`,
          tenantId: 'acme',
          roles: ['admin'],
          plan: 'pro',
        });
        expect(person.scope).to.equal(`["acme","user-${id}"]`);
      });

      it(`refuses with ${name} when it returns no id, and tells the log`, async () => {
        const errors: unknown[] = [];
        const auth = authenticator(
          config(async () => ({ name: 'no id' }) as never),
          (error) => errors.push(error),
        );
        expect(await codeOf(() => auth.authenticate(bearing(token)))).to.equal('UNAUTHENTICATED');
        expect(errors).to.have.length(1);
      });

      it(`refuses with ${name} when it throws, without counting it against the address`, async () => {
        const auth = authenticator(
          config(() => {
            throw new TypeError('no such row');
          }),
        );
        for (let index = 0; index < 12; index++) {
          expect(await codeOf(() => auth.authenticate(bearing(token)))).to.equal('AUTH_UNAVAILABLE');
        }
      });
    }

    it('keeps the expiry and takes null for absent', async () => {
      const row = { id: 'ada', tenantId: null, roles: null };
      const auth = authenticator({ type: 'jwt', secret: SECRET, hydrateUser: () => row as never });
      const person = await auth.authenticate(bearing(jwtToken));
      expect(person.user).to.deep.equal({ id: 'ada' });
      expect(person.expiresAt).to.be.a('number');
    });
  });

  describe('failed attempts', () => {
    it('refuse the eleventh try of an address, a right token too', async () => {
      const auth = authenticator({ type: 'token', token: TOKEN });
      await failTimes(5, auth, '198.51.100.1');
      await failTimes(5, auth, '::ffff:198.51.100.1');
      const error = await refusalOf(() => auth.authenticate(bearing(TOKEN, '198.51.100.1')));
      expect(error.code).to.equal('RATE_LIMITED');
      expect(error.retryAfterMs).to.be.within(1, 60_000);
      expect(auth.authenticate(bearing(TOKEN, '198.51.100.2'))).to.have.nested.property('user.id', 'token');
    });

    it('do not shut out who was in before on the same address', async () => {
      const auth = authenticator({ type: 'token', token: TOKEN });
      await auth.authenticate(bearing(TOKEN));
      await failTimes(10, auth);
      expect(await codeOf(() => auth.authenticate(bearing(OTHER)))).to.equal('RATE_LIMITED');
      expect(auth.authenticate(bearing(TOKEN))).to.have.nested.property('user.id', 'token');
    });

    it('are not made by missing, expired or not yet valid tokens', async () => {
      const auth = authenticator({ type: 'jwt', secret: SECRET });
      const now = Math.floor(Date.now() / 1000);
      const stale = jwt.sign({ sub: 'ada', exp: now - 60 }, SECRET);
      const early = jwt.sign({ sub: 'ada', nbf: now + 600 }, SECRET);
      for (let index = 0; index < 12; index++) {
        for (const token of [undefined, '', stale, early]) {
          expect(await codeOf(() => auth.authenticate(bearing(token)))).to.equal('UNAUTHENTICATED');
        }
      }
    });

    for (const [library, thrown] of [
      ['jsonwebtoken', () => jwt.verify('nonsense', SECRET)],
      ['jose', () => Promise.reject(Object.assign(new Error('bad'), { code: 'ERR_JWS_INVALID' }))],
    ] as const) {
      it(`are made by a validate in which ${library} finds the token to be bad`, async () => {
        const auth = custom(async () => (await thrown()) as never);
        await failTimes(10, auth);
        expect(await codeOf(() => auth.authenticate(bearing('x')))).to.equal('RATE_LIMITED');
      });
    }

    it('are not made by a validate in which a library finds a signed token to be late or early', async () => {
      const stale = jwt.sign({ sub: 'ada', exp: Math.floor(Date.now() / 1000) - 60 }, SECRET);
      const early = jwt.sign({ sub: 'ada', nbf: Math.floor(Date.now() / 1000) + 600 }, SECRET);
      const key = new TextEncoder().encode(SECRET);
      const good = { valid: true, user: { id: 'ada' } } as const;
      for (const verify of [
        (token = '') => jwt.verify(token, SECRET),
        (token = '') => jwtVerify(token, key),
      ]) {
        const auth = custom((token) => Promise.resolve(verify(token)).then(() => good));
        for (let index = 0; index < 12; index++) {
          for (const token of [stale, early]) {
            expect(await codeOf(() => auth.authenticate(bearing(token)))).to.equal('UNAUTHENTICATED');
          }
        }
        expect(await auth.authenticate(bearing(jwt.sign({ sub: 'ada' }, SECRET)))).to.have.property('scope');
      }
    });

    it('are not made by a validate that throws an error of its own, such as that a login has ended', async () => {
      const auth = custom(async () => {
        throw new GatewayError({ code: 'LOGIN_ENDED', status: 401, message: 'Log in again' });
      });
      for (let index = 0; index < 12; index++) {
        expect(await codeOf(() => auth.authenticate(bearing('ended')))).to.equal('LOGIN_ENDED');
      }
    });

    it('are not made by a validate that throws something else, up to ten times as many', async () => {
      const auth = custom(async () => expect.fail('the database is away'));
      for (let index = 0; index < 100; index++) {
        expect(await codeOf(() => auth.authenticate(bearing(`t${index}`)))).to.equal('AUTH_UNAVAILABLE');
      }
      expect(await codeOf(() => auth.authenticate(bearing('x')))).to.equal('RATE_LIMITED');
    });

    for (const right of [0, 11, 49]) {
      it(`give a burst of guesses no more answers than its allowance, where guess ${right} of 50 is right`, async () => {
        const auth = custom(async (token) =>
          token === `pin-${right}` ? { valid: true, user: { id: 'eve' } } : { valid: false },
        );
        const outcomes = await Promise.all(
          Array.from({ length: 50 }, async (_, index) => {
            try {
              await auth.authenticate(bearing(`pin-${index}`));
              return 'in';
            } catch (error) {
              return (error as GatewayError).code;
            }
          }),
        );
        expect(outcomes.filter((it) => it === 'UNAUTHENTICATED')).to.have.length(10);
        // Whatever was not among the first ten got the same answer, the right one too.
        const rest = outcomes.filter((it) => it !== 'UNAUTHENTICATED');
        expect(new Set(rest)).to.deep.equal(new Set(right === 0 ? ['in', 'RATE_LIMITED'] : ['RATE_LIMITED']));
      });
    }

    it('of JWTs never shut an address out: a signature cannot be guessed', async () => {
      const auth = authenticator({ type: 'jwt', secret: SECRET });
      await failTimes(30, auth);
      const fresh = jwt.sign({ sub: 'ada' }, SECRET);
      expect(await auth.authenticate(bearing(fresh))).to.have.nested.property('user.id', 'ada');
    });
  });

  it('never lets a token into an error', async () => {
    const token = randomBytes(24).toString('base64url');
    const configs: AuthConfig[] = [
      { type: 'token', token: TOKEN },
      { type: 'jwt', secret: SECRET },
      { type: 'custom', validate: () => ({ valid: false }) },
    ];
    for (const config of configs) {
      const auth = authenticator(config);
      for (let index = 0; index < 11; index++) {
        const error = await refusalOf(() => auth.authenticate(bearing(token)));
        const text = JSON.stringify(error) + error.stack + String(error.cause);
        expect(text).not.to.contain(token).and.not.to.contain(SECRET).and.not.to.contain(TOKEN);
      }
    }
  });

  it('identifies a user whom the host authenticated, and refuses one without id', async () => {
    const auth = createAuthenticator({ auth: { type: 'none' }, sessionScope: 'tenant' });
    const person = auth.identify({ id: 'ada', tenantId: 'acme' }, 5);
    expect(person).to.deep.include({ scope: '["acme"]', key: '["acme","ada"]', expiresAt: 5 });
    expect(await codeOf(() => auth.identify({ id: '' }))).to.equal('UNAUTHENTICATED');
  });
});
