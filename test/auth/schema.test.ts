import { expect } from 'chai';
import { authConfigSchema } from '../../server/auth/schema.js';
import { SECRET } from './fixtures.js';

const issuesOf = (value: unknown) =>
  (authConfigSchema.safeParse(value).error?.issues ?? []).map(
    (issue) => [issue.path.join('.'), issue.message] as const,
  );

const URI = 'https://example.com/.well-known/jwks.json';

describe('authConfigSchema', () => {
  const hydrateUser = () => ({ id: 'ada' });
  const good: readonly object[] = [
    { type: 'none' },
    { type: 'none', hydrateUser },
    { type: 'token', token: SECRET },
    { type: 'token', token: [SECRET], user: { id: 'ci', team: 'red' }, hydrateUser },
    { type: 'token', token: () => SECRET },
    { type: 'jwt', secret: SECRET, issuer: undefined },
    {
      type: 'jwt',
      secret: Buffer.from(SECRET),
      issuer: ['a'],
      audience: 'b',
      algorithms: ['HS256'],
      requireExp: true,
    },
    { type: 'jwt', jwksUri: URI, issuer: 'a', jwks: { timeoutMs: 10, cooldownMs: 0, maxAgeMs: 0 } },
    { type: 'custom', validate: () => ({ valid: false }), cookies: false, hydrateUser },
  ];
  for (const [index, config] of good.entries()) {
    it(`accepts form ${index + 1} as it is`, () => {
      expect(authConfigSchema.parse(config)).to.deep.equal(config);
    });
  }

  const bad: readonly (readonly [string, unknown, string, RegExp])[] = [
    ['another type', { type: 'basic' }, 'type', /'none', 'token', 'jwt' or 'custom'/],
    ['an unset token', { type: 'token', token: undefined }, 'token', /is it set/],
    ['an empty token', { type: 'token', token: '' }, 'token', /non-empty/],
    ['an empty rotation', { type: 'token', token: [] }, 'token', /non-empty/],
    ['an unset token in a rotation', { type: 'token', token: [SECRET, undefined] }, 'token', /non-empty/],
    [
      'a user without id',
      { type: 'token', token: SECRET, user: { roles: [] } },
      'user.id',
      /non-empty string/,
    ],
    [
      'roles as a text',
      { type: 'token', token: SECRET, user: { id: 'a', roles: 'b' } },
      'user.roles',
      /array/,
    ],
    ['an unset secret', { type: 'jwt', secret: undefined }, 'secret', /is it set/],
    ['an unset key set', { type: 'jwt', jwksUri: undefined }, 'secret', /is it set.*jwksUri/],
    [
      'a key set beside a secret',
      { type: 'jwt', secret: SECRET, jwksUri: URI },
      'jwksUri',
      /instead of secret/,
    ],
    ['a key set that is no URL', { type: 'jwt', jwksUri: '/jwks.json' }, 'jwksUri', /https/],
    ['a key set in a file', { type: 'jwt', jwksUri: 'file:///jwks.json' }, 'jwksUri', /https/],
    ['a key set with a password', { type: 'jwt', jwksUri: 'https://a:b@c.test/' }, 'jwksUri', /credentials/],
    ['an endless fetch', { type: 'jwt', jwksUri: URI, jwks: { timeoutMs: 1e9 } }, 'jwks.timeoutMs', /60,000/],
    ['fetching of nothing', { type: 'jwt', secret: SECRET, jwks: {} }, 'jwks', /missing/],
    ['alg none', { type: 'jwt', secret: SECRET, algorithms: ['none'] }, 'algorithms.0', /one of HS256/],
    ['no algorithm', { type: 'jwt', secret: SECRET, algorithms: [] }, 'algorithms', /at least one/],
    ['an empty issuer', { type: 'jwt', secret: SECRET, issuer: '' }, 'issuer', /non-empty/],
    [
      'an endless tolerance',
      { type: 'jwt', secret: SECRET, clockToleranceSeconds: 1e9 },
      'clockToleranceSeconds',
      /300/,
    ],
    ['a misspelt check', { type: 'jwt', secret: SECRET, audiance: 'x' }, '', /audiance/],
    ['no validate', { type: 'custom' }, 'validate', /function/],
    ['hydrateUser that is no function', { type: 'none', hydrateUser: true }, 'hydrateUser', /function/],
  ];
  for (const [name, config, path, message] of bad) {
    it(`refuses ${name}`, () => {
      const [issue] = issuesOf(config);
      expect(issue?.[0]).to.equal(path);
      expect(issue?.[1]).to.match(message).and.not.contain(SECRET);
    });
  }
});
