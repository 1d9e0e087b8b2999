import { andThen } from '../async/maybe-promise.js';
import type { HostCode, HostOutcome } from './host-call.js';
import { userProblem } from './identity.js';
import type { AuthResult, CustomAuth, Verification, Verifier } from './types.js';

/** Calls the host's `validate`. Anything but a well-formed yes refuses the caller. */
export function createCustomVerifier(auth: CustomAuth, host: HostCode, now: () => number): Verifier {
  return {
    takesAnyone: true,
    strongTokens: false,
    verify: (token, request) => {
      const run = () => auth.validate(token, request);
      return andThen(host.call({ name: 'auth.validate', token, run }), (outcome) =>
        judge(outcome, host, now),
      );
    },
  };
}

function judge(outcome: HostOutcome<AuthResult>, host: HostCode, now: () => number): Verification {
  if (!outcome.ok) {
    const { bad } = outcome;
    if (bad) return { ok: false, reason: 'validate refused the token', guess: bad !== 'untimely' };
    const { error } = outcome;
    const { code } = error;
    const unjudged = code === 'AUTH_UNAVAILABLE';
    return {
      ok: false,
      reason: `validate threw ${code}`,
      guess: code === 'UNAUTHENTICATED',
      unjudged,
      error,
    };
  }
  const result: Partial<AuthResult> | null | undefined = outcome.value;
  if (result?.valid !== true)
    return { ok: false, reason: 'validate did not return valid: true', guess: true };
  const problem = userProblem(result.user) ?? expiryProblem(result.expiresAt, now());
  if (problem === undefined && result.user) {
    return { ok: true, user: result.user, expiresAt: result.expiresAt ?? undefined };
  }
  host.report(`auth.validate: ${problem}`);
  return { ok: false, reason: `validate: ${problem}`, guess: false };
}

function expiryProblem(expiresAt: unknown, now: number): string | undefined {
  if (expiresAt == null) return undefined;
  if (typeof expiresAt !== 'number' || Number.isNaN(expiresAt)) return 'expiresAt is not a number';
  return expiresAt > now ? undefined : 'expiresAt is past (it is in milliseconds)';
}
