import crypto, { timingSafeEqual } from 'node:crypto';
import { andThen } from '../async/maybe-promise.js';
import type { HostCode } from './host-call.js';
import { isShortSecret, SHORT_SECRET } from './secrets.js';
import type { TokenAuth, Verification, Verifier } from './types.js';

/**
 * Verifies shared secret tokens in a time that does not depend on how much of a token is right.
 *
 * @param exposed Whether a token that a function returns must be as long as a configured one, because the gateway can be reached from other
 * machines.
 */
export function createTokenVerifier(auth: TokenAuth, host: HostCode, exposed = false): Verifier {
  const good: Verification = { ok: true, user: auth.user ?? { id: 'token' } };
  const bad: Verification = { ok: false, reason: 'another token', guess: true };
  const unknown: Verification = { ok: false, reason: 'auth.token gave no token', guess: false };
  const judge = (token: string | undefined, digests: readonly Buffer[]): Verification =>
    token !== undefined && isAmong(token, digests) ? good : bad;
  const source = auth.token;
  if (typeof source !== 'function') {
    const digests = tokensOf(source).map(digest);
    return { takesAnyone: false, strongTokens: true, verify: (token) => judge(token, digests) };
  }
  return {
    takesAnyone: false,
    strongTokens: true,
    verify: (token) =>
      andThen(host.call({ name: 'auth.token', token, run: source }), (outcome): Verification => {
        if (!outcome.ok) return outcome.bad ? unknown : { ...unknown, error: outcome.error };
        const given = tokensOf(outcome.value);
        const usable = exposed ? given.filter((one) => !isShortSecret(one)) : given;
        if (usable.length < given.length) host.report(`auth.token: a token ${SHORT_SECRET}`);
        if (usable.length > 0) return judge(token, usable.map(digest));
        if (given.length === 0) host.report('auth.token returned no token');
        return unknown;
      }),
  };
}

// Values come from host code: an unset environment variable must not become a token.
function tokensOf(tokens: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(tokens) ? tokens : [tokens];
  return list.filter((token): token is string => typeof token === 'string' && token !== '');
}

function isAmong(token: string, digests: readonly Buffer[]): boolean {
  const presented = digest(token);
  let found = false;
  for (const candidate of digests) if (timingSafeEqual(candidate, presented)) found = true;
  return found;
}

function digest(token: string): Buffer {
  return crypto.hash('sha256', token, 'buffer');
}
