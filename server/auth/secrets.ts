import { isPem } from './jwt-key.js';
import { invalidAuth } from './refusal.js';
import type { AuthConfig, JwtAuth, JwtSecret } from './types.js';

const MIN_BYTES = 32;

/** The problem of a secret that is too short, and the remedy. */
export const SHORT_SECRET = `has fewer than ${MIN_BYTES} bytes; make one with \`openssl rand -base64 32\``;

/** The network exposure of a gateway. */
export interface Exposure {
  /** Whether it listens only on loopback (or a Unix socket). */
  readonly loopback: boolean;
  /** Whether it does not listen itself, because the host's server serves it. */
  readonly embedded: boolean;
}

/**
 * Judges a gateway's secrets by its exposure. A problem is a warning on loopback and in embedded mode, and is refused on any other host.
 * Tokens and secrets of a function are judged when it returns them.
 *
 * @returns warnings for the log; none holds a secret.
 * @throws GatewayError `INVALID_REQUEST` naming `auth`, `auth.token` or `auth.secret`.
 */
export function checkSecrets(auth: AuthConfig | undefined, { loopback, embedded }: Exposure): string[] {
  const problem = problemOf(auth);
  if (problem === undefined) return auth?.type === 'jwt' ? keySetWarnings(auth) : [];
  const [path, message] = problem;
  if (!loopback && !embedded) throw invalidAuth(path, message);
  // On loopback, a missing `auth` is the ordinary start of a project.
  return path === 'auth' && !embedded ? [] : [`${path}: ${message}`];
}

function problemOf(auth: AuthConfig | undefined): readonly [path: string, message: string] | undefined {
  if (auth === undefined) {
    return [
      'auth',
      "anyone who reaches the gateway may use it; configure auth, or write auth: { type: 'none' }",
    ];
  }
  if (auth.type === 'token' && typeof auth.token !== 'function') {
    const tokens = typeof auth.token === 'string' ? [auth.token] : auth.token;
    return tokens.some(isShortSecret) ? ['auth.token', `a token ${SHORT_SECRET}`] : undefined;
  }
  if (auth.type === 'jwt' && auth.secret !== undefined && typeof auth.secret !== 'function') {
    const isShort = (secret: JwtSecret): boolean => !isPem(secret) && isShortSecret(secret);
    const { secret } = auth;
    const secrets: readonly JwtSecret[] =
      typeof secret === 'string' || secret instanceof Uint8Array ? [secret] : secret;
    return secrets.some(isShort) ? ['auth.secret', `the secret ${SHORT_SECRET}`] : undefined;
  }
  return undefined;
}

/** Problems with published keys only cause warnings, since the host knows which networks and issuers it trusts. */
function keySetWarnings({ jwksUri, issuer, audience }: JwtAuth): string[] {
  if (jwksUri === undefined) return [];
  const { protocol, hostname } = new URL(jwksUri);
  const plain = protocol === 'http:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  return [
    ...(plain ? ['auth.jwksUri: is not https; who changes the answer on its way can sign tokens'] : []),
    ...(issuer === undefined && audience === undefined
      ? ['auth.jwksUri: every token signed with these keys is taken; name auth.issuer and auth.audience']
      : []),
  ];
}

/** Whether a secret could be guessed in time. */
export function isShortSecret(secret: string | Uint8Array): boolean {
  return Buffer.byteLength(secret) < MIN_BYTES;
}
