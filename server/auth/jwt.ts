import jwt, { type Jwt, type JwtPayload } from 'jsonwebtoken';
import { isTextArray } from './identity.js';
import { jwtKey } from './jwt-key.js';
import type { JwtAuth, UserLike, Verification, Verifier } from './types.js';

/**
 * Verifies JSON Web Tokens with one key and an explicit list of algorithms.
 *
 * @throws GatewayError `INVALID_REQUEST` when the key and the algorithms do not suit each other.
 */
export function createJwtVerifier(auth: JwtAuth, now: () => number): Verifier {
  const algorithms = [...(auth.algorithms ?? (['HS256'] as const))];
  const key = jwtKey(auth.secret, algorithms);
  const clockTolerance = auth.clockToleranceSeconds ?? 5;
  const verify = (token: string | undefined): Verification => {
    if (token === undefined) return refuse('no token');
    let decoded: Jwt;
    try {
      const clockTimestamp = Math.floor(now() / 1000);
      decoded = jwt.verify(token, key, { algorithms, clockTolerance, clockTimestamp, complete: true });
    } catch (error) {
      return refuseError(error);
    }
    return judge(decoded, auth, clockTolerance);
  };
  return { takesAnyone: false, strongTokens: true, verify };
}

function judge({ header, payload }: Jwt, auth: JwtAuth, toleranceSeconds: number): Verification {
  // Extensions that the issuer calls critical would have to be understood (RFC 7515, 4.1.11).
  if ('crit' in header) return refuse('crit');
  if (typeof payload !== 'object' || payload === null) return refuse('the payload is not an object');
  if (auth.issuer !== undefined && !isOneOf(payload.iss, auth.issuer)) return refuse('iss');
  if (auth.audience !== undefined && !isAddressedTo(payload.aud, auth.audience)) return refuse('aud');
  const { exp, sub, tenantId } = payload as JwtPayload & { readonly tenantId?: unknown };
  if (exp === undefined && auth.requireExp) return refuse('no exp');
  if (exp !== undefined && !Number.isFinite(exp)) return refuse('exp is not a number');
  if (typeof sub !== 'string' || sub === '') return refuse('sub is not a non-empty string');
  if (tenantId != null && typeof tenantId !== 'string') return refuse('tenantId is not a string');
  // The tolerance is part of it: a connection lasts as long as its token would still open one.
  const expiresAt = exp === undefined ? undefined : (exp + toleranceSeconds) * 1000;
  return { ok: true, user: userOf(payload, sub), expiresAt };
}

function userOf(payload: JwtPayload, id: string): UserLike {
  const { roles, tenantId, email } = payload as Record<string, unknown>;
  return {
    id,
    ...(isTextArray(roles) && { roles }),
    ...(typeof tenantId === 'string' && { tenantId }),
    ...(typeof email === 'string' && { email }),
    claims: payload,
  };
}

// Checked here, not by the library: it skips the check for an empty text.
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
  // Both come after the signature was found good: no guess, but a tab that was left open over night.
  const genuine = error instanceof jwt.TokenExpiredError || error instanceof jwt.NotBeforeError;
  // Its own messages are constants; those of JSON.parse quote the text that they could not read.
  const reason = error instanceof jwt.JsonWebTokenError ? error.message : 'jwt malformed';
  return { ok: false, reason, guess: !genuine };
}
