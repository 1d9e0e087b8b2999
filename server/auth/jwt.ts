import type { JWTPayload, JWTVerifyOptions, JWTVerifyResult } from 'jose';
import { isGatewayError } from '../../shared/errors.js';
import { badnessOf } from './bad-token.js';
import type { HostCode } from './host-call.js';
import { isTextArray } from './identity.js';
import { jwtAlgorithms } from './jwt-key.js';
import { JwtSecrets } from './jwt-secrets.js';
import { RemoteKeys } from './remote-keys.js';
import type { JwtAlgorithm, JwtAuth, UserLike, Verification, Verifier } from './types.js';

export interface JwtVerifierOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Calls a function that gives secrets, and is told when keys cannot be had. */
  readonly host: HostCode;
  /** Whether secrets that a function returns must be long, because other machines can reach the gateway. @default false */
  readonly exposed?: boolean;
}

/**
 * Verifies JSON Web Tokens with shared secrets or keys, or with an issuer's published keys, and an explicit list of algorithms.
 *
 * @throws GatewayError `INVALID_REQUEST` when the key and the algorithms do not suit each other.
 */
export function createJwtVerifier(
  auth: JwtAuth,
  { now, host, exposed = false }: JwtVerifierOptions,
): Verifier {
  const algorithms = [...jwtAlgorithms(auth)];
  const clockTolerance = auth.clockToleranceSeconds ?? 5;
  const check = checkWith(auth, algorithms, { host, exposed });
  const verify = async (token: string | undefined): Promise<Verification> => {
    if (token === undefined) return refuse('no token');
    try {
      const currentDate = new Date(now());
      const checked = await check(token, { algorithms, clockTolerance, currentDate });
      return 'ok' in checked ? checked : judge(checked, auth, clockTolerance);
    } catch (error) {
      return refuseError(error);
    }
  };
  return { takesAnyone: false, strongTokens: true, verify };
}

type NotVerified = Extract<Verification, { readonly ok: false }>;
type Check = (token: string, options: JWTVerifyOptions) => Promise<JWTVerifyResult | NotVerified>;

function checkWith(
  auth: JwtAuth,
  algorithms: readonly JwtAlgorithm[],
  { host, exposed }: { readonly host: HostCode; readonly exposed: boolean },
): Check {
  // Loaded only by gateways that verify tokens, since it takes a third of the start-up time.
  const loading = import('jose');
  if (auth.jwksUri !== undefined) {
    const { find } = new RemoteKeys(auth.jwksUri, auth.jwks ?? {}, (message) => host.report(message));
    return async (token, options) => (await loading).jwtVerify(token, find, options);
  }
  const secrets = new JwtSecrets(auth.secret, { algorithms, host, exposed });
  return async (token, options) => {
    const jose = await loading;
    const keys = await secrets.find(token);
    if ('ok' in keys) return keys;
    const last = keys.length - 1;
    for (const key of keys.slice(0, last)) {
      try {
        return await jose.jwtVerify(token, key, options);
      } catch (error) {
        if (!(error instanceof jose.errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    return jose.jwtVerify(token, keys[last]!, options);
  };
}

function judge(
  { protectedHeader, payload }: JWTVerifyResult,
  auth: JwtAuth,
  toleranceSeconds: number,
): Verification {
  // Critical extensions would have to be understood (RFC 7515, 4.1.11).
  if ('crit' in protectedHeader) return refuse('crit');
  if (auth.issuer !== undefined && !isOneOf(payload.iss, auth.issuer)) return refuse('iss');
  if (auth.audience !== undefined && !isAddressedTo(payload.aud, auth.audience)) return refuse('aud');
  const { exp, sub, tenantId } = payload as JWTPayload & { readonly tenantId?: unknown };
  if (exp === undefined && auth.requireExp) return refuse('no exp');
  if (exp !== undefined && !Number.isFinite(exp)) return refuse('exp is not a number');
  if (typeof sub !== 'string' || sub === '') return refuse('sub is not a non-empty string');
  if (tenantId != null && typeof tenantId !== 'string') return refuse('tenantId is not a string');
  // Includes the tolerance: a connection lasts as long as its token could still open one.
  const expiresAt = exp === undefined ? undefined : (exp + toleranceSeconds) * 1000;
  return { ok: true, user: userOf(payload, sub), expiresAt };
}

function userOf(payload: JWTPayload, id: string): UserLike {
  const { roles, tenantId, email } = payload as Record<string, unknown>;
  return {
    id,
    ...(isTextArray(roles) && { roles }),
    ...(typeof tenantId === 'string' && { tenantId }),
    ...(typeof email === 'string' && { email }),
    claims: payload,
  };
}

// Checked here, since the library skips the check for an empty text.
function isOneOf(claim: unknown, allowed: string | readonly string[]): boolean {
  return (
    typeof claim === 'string' && (typeof allowed === 'string' ? claim === allowed : allowed.includes(claim))
  );
}

function isAddressedTo(claim: unknown, allowed: string | readonly string[]): boolean {
  return isTextArray(claim) ? claim.some((one) => isOneOf(one, allowed)) : isOneOf(claim, allowed);
}

function refuse(reason: string): Verification {
  return { ok: false, reason, guess: true };
}

function refuseError(error: unknown): Verification {
  if (isGatewayError(error)) return { ok: false, reason: 'the keys cannot be fetched', guess: false, error };
  // The library's codes are constants; its messages may quote the token.
  const { code } = error as { readonly code?: unknown };
  const reason = typeof code === 'string' && code.startsWith('ERR_J') ? code : 'the key cannot be used';
  return { ok: false, reason, guess: badnessOf(error) !== 'untimely' };
}
