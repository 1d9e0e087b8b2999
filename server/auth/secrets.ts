import { isPem } from './jwt-key.js';
import { invalidAuth } from './refusal.js';
import type { AuthConfig, JwtAuth } from './types.js';

const MIN_BYTES = 32;

/** Where a gateway can be reached. */
export interface Exposure {
  /** It listens on loopback (or a Unix socket) only. */
  readonly loopback: boolean;
  /** It listens nowhere itself: the host's server serves it. */
  readonly embedded: boolean;
}

/**
 * Judges a gateway's secrets by where it can be reached: what is a warning on loopback and in embedded mode is refused on
 * any other host. Tokens that a function returns are not known yet and not judged.
 *
 * @returns warnings for the log; none holds a secret.
 * @throws GatewayError `INVALID_REQUEST` naming `auth`, `auth.token` or `auth.secret`.
 */
export function checkSecrets(auth: AuthConfig | undefined, { loopback, embedded }: Exposure): string[] {
  const problem = problemOf(auth);
  if (problem === undefined) return auth?.type === 'jwt' ? keySetWarnings(auth) : [];
  const [path, message] = problem;
  if (!loopback && !embedded) throw invalidAuth(path, message);
  // On loopback, no `auth` is the ordinary start of a project.
  return path === 'auth' && !embedded ? [] : [`${path}: ${message}`];
}

function problemOf(auth: AuthConfig | undefined): readonly [path: string, message: string] | undefined {
  if (auth === undefined) {
    return [
      'auth',
      "anyone who reaches the gateway may use it; configure auth, or write auth: { type: 'none' }",
    ];
  }
  const advice = `has fewer than ${MIN_BYTES} bytes; make one with \`openssl rand -base64 32\``;
  if (auth.type === 'token' && typeof auth.token !== 'function') {
    const tokens = typeof auth.token === 'string' ? [auth.token] : auth.token;
    return tokens.some(isShort) ? ['auth.token', `a token ${advice}`] : undefined;
  }
  if (auth.type === 'jwt' && auth.secret !== undefined && !isPem(auth.secret) && isShort(auth.secret)) {
    return ['auth.secret', `the secret ${advice}`];
  }
  return undefined;
}

/** What is wrong with published keys is not ours to refuse: which network is trusted, and whose keys they are, the host knows. */
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

function isShort(secret: string | Uint8Array): boolean {
  return Buffer.byteLength(secret) < MIN_BYTES;
}
