import type { UserContext } from '../../shared/contract.js';
import { idProblem } from '../../shared/ids.js';
import { unauthenticated } from './refusal.js';
import { createScope, type SessionScope, userScope } from './scope.js';
import type { Person, UserLike } from './types.js';

/** Makes the identity of a user that was authenticated here or by the host. */
export type Identify = (user: UserLike, expiresAt?: number) => Person;

/**
 * @param isShared Whether a user stands for many callers.
 * @returns a function that throws `UNAUTHENTICATED` for a user without a non-empty string `id`, with `roles` or a `tenantId` of a wrong
 * type, or without a scope.
 */
export function createIdentify(
  sessionScope?: SessionScope,
  isShared: (user: UserContext) => boolean = () => false,
): Identify {
  const scopeOf = createScope(sessionScope);
  return (candidate, expiresAt) => {
    const problem = userProblem(candidate);
    if (problem !== undefined) throw unauthenticated(problem);
    // The host promises that its `hydrateUser` returns the fields that `Register` adds.
    const user = withoutNulls(candidate) as UserContext;
    const key = userScope(user);
    return {
      ...{ user, id: user.id, key, scope: scopeOf(user) },
      pays: { key, kind: user.service === true || isShared(user) ? 'many' : 'person' },
      ...(expiresAt !== undefined && { expiresAt }),
    };
  };
}

/** The problem of a value that should be a user; undefined if there is none. */
export function userProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'the user is not an object';
  const { id, roles, tenantId } = value as Record<string, unknown>;
  if (typeof id !== 'string' || id === '') return 'user.id is not a non-empty string';
  for (const [field, given] of Object.entries({ id, tenantId })) {
    const problem = typeof given === 'string' && given !== '' ? idProblem(given) : null;
    if (problem !== null) return `user.${field} ${problem}`;
  }
  // A string has `includes` too: the roles 'administrator' would then contain the role 'admin'.
  if (roles != null && !isTextArray(roles)) return 'user.roles is not an array of strings';
  if (tenantId != null && typeof tenantId !== 'string') return 'user.tenantId is not a string';
  return undefined;
}

/** Whether a value is an array of strings. */
export function isTextArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

// Database rows say null where the type says absent.
function withoutNulls(user: UserLike): UserLike {
  if (user.roles !== null && user.tenantId !== null) return user;
  const copy: Record<string, unknown> = { ...user };
  if (copy.roles === null) delete copy.roles;
  if (copy.tenantId === null) delete copy.tenantId;
  return copy as unknown as UserLike;
}
