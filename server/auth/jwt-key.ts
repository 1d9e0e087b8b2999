import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { invalidAuth } from './refusal.js';
import type { JwtAlgorithm, JwtAuth } from './types.js';

const MIN_RSA_BITS = 2048;
const CURVES: Readonly<Record<string, string>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
};

/**
 * The algorithms of a JWT configuration.
 *
 * @throws GatewayError `INVALID_REQUEST` naming `auth.algorithms`.
 */
export function jwtAlgorithms({ algorithms, jwksUri }: JwtAuth): readonly JwtAlgorithm[] {
  if (algorithms?.length === 0) throw invalidAuth('auth.algorithms', 'name at least one algorithm');
  if (jwksUri === undefined) return algorithms ?? ['HS256'];
  const shared = algorithms?.find((algorithm) => algorithm.startsWith('HS'));
  if (shared === undefined) return algorithms ?? ['RS256', 'ES256', 'EdDSA'];
  throw invalidAuth('auth.algorithms', `${shared} has a shared secret, which no key set publishes`);
}

/** Whether a JWT secret is a PEM key or certificate, as text or as bytes. */
export function isPem(secret: string | Uint8Array): boolean {
  const head = typeof secret === 'string' ? secret : Buffer.from(secret.subarray(0, 64)).toString('latin1');
  return head.trimStart().startsWith('-----BEGIN ');
}

/**
 * The key of a JWT configuration. Each allowed algorithm must suit it: a public key used as a shared secret would let anyone sign.
 *
 * @throws GatewayError `INVALID_REQUEST` naming `auth.secret` or `auth.algorithms`.
 */
export function jwtKey(secret: string | Uint8Array, algorithms: readonly JwtAlgorithm[]): KeyObject {
  if (!isPem(secret)) {
    const bytes = Buffer.from(secret as Uint8Array);
    if (bytes.length === 0) throw invalidAuth('auth.secret', 'must not be empty');
    const foreign = algorithms.find((algorithm) => !algorithm.startsWith('HS'));
    if (foreign === undefined) return createSecretKey(bytes);
    throw invalidAuth('auth.secret', `${foreign} needs a PEM public key`);
  }
  const key = publicKey(secret);
  for (const algorithm of algorithms) {
    if (suits(key, algorithm)) continue;
    throw invalidAuth(
      'auth.algorithms',
      `${algorithm} does not suit the PEM key in auth.secret; name its own`,
    );
  }
  return key;
}

function publicKey(secret: string | Uint8Array): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(Buffer.from(secret as Uint8Array));
  } catch {
    throw invalidAuth('auth.secret', 'this PEM text is not a public key or a certificate');
  }
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits === undefined || bits >= MIN_RSA_BITS) return key;
  throw invalidAuth('auth.secret', `an RSA key needs at least ${MIN_RSA_BITS} bits`);
}

function suits(key: KeyObject, algorithm: JwtAlgorithm): boolean {
  // Web Crypto does not accept keys of the type rsa-pss, which few tools make.
  if (/^[RP]S/.test(algorithm)) return key.asymmetricKeyType === 'rsa';
  if (algorithm.startsWith('Ed')) return key.asymmetricKeyType === 'ed25519';
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === CURVES[algorithm];
}
