import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { transformSync } from 'esbuild';
import { type AuthConfig, GatewayError, type MethodContext } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { post, startGateway } from '../support/gateway.js';
import { KeyServer, type SigningKey, signingKey } from '../support/key-server.js';
import { ROOT } from '../support/program.js';

interface Provider {
  readonly algorithm: string;
  /** The claims of a token as the provider documents them. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly user: object;
  /** Claims of tokens that are genuine and not for us. */
  readonly refused: readonly Readonly<Record<string, unknown>>[];
}

const COGNITO = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEfGhI';

const PROVIDERS: Readonly<Record<string, Provider>> = {
  Auth0: {
    algorithm: 'RS256',
    claims: {
      iss: 'https://example.eu.auth0.com/',
      sub: 'auth0|507f1f77bcf86cd799439020',
      aud: ['https://api.example.com', 'https://example.eu.auth0.com/userinfo'],
      azp: 'my_client_id',
      scope: 'openid profile',
      permissions: ['chat:write'],
    },
    user: { id: 'auth0|507f1f77bcf86cd799439020', roles: ['chat:write'] },
    refused: [{ aud: 'https://other.example.com' }, { iss: 'https://example.eu.auth0.com' }],
  },
  Clerk: {
    algorithm: 'RS256',
    claims: {
      iss: 'https://clerk.example.com',
      sub: 'user_2abc',
      azp: 'https://app.example.com',
      sid: 'sess_123',
      org_id: 'org_123',
    },
    user: { id: 'user_2abc', tenantId: 'org_123' },
    refused: [{ azp: 'https://evil.example' }, { azp: undefined }, { iss: 'https://clerk.evil.example' }],
  },
  Supabase: {
    algorithm: 'ES256',
    claims: {
      iss: 'https://abcdefgh.supabase.co/auth/v1',
      sub: '7b9a1f6c-0000-4000-8000-000000000000',
      aud: 'authenticated',
      role: 'authenticated',
      email: 'ada@example.com',
      app_metadata: { provider: 'email', roles: ['editor'] },
    },
    user: { id: '7b9a1f6c-0000-4000-8000-000000000000', email: 'ada@example.com', roles: ['editor'] },
    refused: [{ aud: 'anon' }, { iss: 'https://other.supabase.co/auth/v1' }],
  },
  Firebase: {
    algorithm: 'RS256',
    claims: {
      iss: 'https://securetoken.google.com/my-project',
      aud: 'my-project',
      auth_time: 1_700_000_000,
      user_id: 'kX3bLw0kQ9dZ',
      sub: 'kX3bLw0kQ9dZ',
      email: 'ada@example.com',
      email_verified: true,
      firebase: { identities: { email: ['ada@example.com'] }, sign_in_provider: 'password' },
      roles: ['editor'],
    },
    user: { id: 'kX3bLw0kQ9dZ', email: 'ada@example.com', roles: ['editor'] },
    refused: [
      { aud: 'another-project' },
      { iss: 'https://securetoken.google.com/another-project', aud: 'another-project' },
    ],
  },
  Keycloak: {
    algorithm: 'RS256',
    claims: {
      iss: 'https://login.example.com/realms/shop',
      aud: ['agent', 'account'],
      sub: '9d5f3c5e-0000-4000-8000-000000000000',
      typ: 'Bearer',
      azp: 'web',
      realm_access: { roles: ['offline_access', 'staff'] },
      scope: 'openid profile email',
      email: 'ada@example.com',
    },
    user: {
      id: '9d5f3c5e-0000-4000-8000-000000000000',
      email: 'ada@example.com',
      roles: ['offline_access', 'staff'],
    },
    refused: [{ aud: 'account' }, { iss: 'https://login.example.com/realms/other' }],
  },
  Cognito: {
    algorithm: 'RS256',
    claims: {
      iss: COGNITO,
      sub: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      token_use: 'access',
      client_id: '1example23456789',
      'cognito:groups': ['admins'],
      scope: 'aws.cognito.signin.user.admin',
    },
    user: { id: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', roles: ['admins'] },
    refused: [{ client_id: 'another' }, { token_use: 'id' }, { iss: `${COGNITO}2` }],
  },
};

/** The configuration that the documentation shows for a provider, with the keys of our server. */
function recipe(name: string, jwksUri: string): AuthConfig {
  const page = readFileSync(join(ROOT, 'docs/guides/identity-providers.md'), 'utf8');
  const block = page.split(`### ${name}\n`)[1]?.split('```ts\n')[1]?.split('```')[0];
  const shown = block?.replace(/^import .*$/gm, '').replace(/jwksUri: '[^']+'/, `jwksUri: '${jwksUri}'`);
  expect(shown, `a recipe for ${name}`).to.contain(jwksUri);
  const { code } = transformSync(`${shown}\nreturn gateway;`, { loader: 'ts' });
  const build = new Function('createGateway', 'GatewayError', 'app', code);
  return build((config: { auth: AuthConfig }) => config.auth, GatewayError, echo);
}

const pairs = new Map<string, Promise<SigningKey[]>>();

/** Two keys, the same for all providers: those of RSA are dear. */
function keysOf(algorithm: string): Promise<SigningKey[]> {
  const made = pairs.get(algorithm) ?? Promise.all(['k1', 'k2'].map((kid) => signingKey(kid, algorithm)));
  pairs.set(algorithm, made);
  return made;
}

describe('the recipes for identity providers', () => {
  for (const [name, { algorithm, claims, user, refused }] of Object.entries(PROVIDERS)) {
    it(`${name}: takes its tokens, through a rotation of keys, and no others`, async () => {
      const [key, next] = (await keysOf(algorithm)) as [SigningKey, SigningKey];
      const server = await KeyServer.start(key);
      const auth = { ...recipe(name, server.uri), jwks: { cooldownMs: 0 } } as AuthConfig;
      const methods = { who: async (_params: undefined, { user: found }: MethodContext) => found };
      const { url, log } = await startGateway({ app: echo, auth, methods });
      const ask = async (token: string) =>
        post(`${url}/invoke`, { method: 'who' }, { authorization: `Bearer ${token}` });
      expect((await ask(await key.sign(claims))).body).to.deep.include(user);
      for (const other of refused)
        expect((await ask(await key.sign({ ...claims, ...other }))).status).to.equal(401);
      server.publish(next);
      expect((await ask(await next.sign(claims))).body).to.deep.include(user);
      expect((await ask(await key.sign(claims))).status).to.equal(401);
      // Why a token was refused is told; nothing else is.
      expect(log.lines.filter(({ message }) => message !== 'a caller was refused')).to.deep.equal([]);
    });
  }
});
