import type { UserContext } from '../../shared/contract.js';
import { isGatewayError } from '../../shared/errors.js';
import type { UserName } from '../../shared/user-name.js';
import { unauthenticated } from './refusal.js';

/**
 * The scope of sessions: each user's own, shared by a tenant, shared by all, or the result of a function of the user.
 */
export type SessionScope = 'user' | 'tenant' | 'global' | ((user: UserContext) => string);

/**
 * Makes a function from users to scopes. Scopes are stored with the sessions, so their form is stable.
 *
 * The returned function throws `UNAUTHENTICATED` for a user whose scope is empty (no tenant with `'tenant'`).
 */
export function createScope(sessionScope: SessionScope = 'user'): (user: UserContext) => string {
  if (sessionScope === 'user') return userScope;
  if (sessionScope === 'tenant') return tenantScope;
  if (sessionScope === 'global') return () => 'global';
  return (user) => functionScope(sessionScope, user);
}

/** The scope of one user: tenant and id, unambiguous whatever their characters. */
export function userScope({ id, tenantId }: UserName): string {
  return JSON.stringify([tenantId ?? null, id]);
}

/** How a user is named to clients. */
export function nameOf({ id, tenantId }: UserContext): UserName {
  return { id, ...(tenantId !== undefined && { tenantId }) };
}

/** Whether a user is the one that a client names. A name without a tenant stands for any. */
export function isNamed(user: UserContext, { id, tenantId = user.tenantId }: UserName): boolean {
  return user.id === id && user.tenantId === tenantId;
}

/** The user that a scope belongs to; null for a scope that several users share. */
export function userOfScope(scope: string): Pick<UserContext, 'id' | 'tenantId'> | null {
  if (!scope.startsWith('[')) return null;
  try {
    const [tenantId, id, ...others] = JSON.parse(scope) as readonly unknown[];
    const isUser = (tenantId === null || typeof tenantId === 'string') && typeof id === 'string';
    if (!isUser || others.length > 0) return null;
    return { id, ...(tenantId !== null && { tenantId }) };
  } catch {
    return null;
  }
}

function tenantScope(user: UserContext): string {
  if (user.tenantId === undefined)
    throw unauthenticated('sessionScope is tenant and the user has no tenantId');
  return JSON.stringify([user.tenantId]);
}

function functionScope(scopeOf: (user: UserContext) => string, user: UserContext): string {
  let scope: unknown;
  try {
    scope = scopeOf(user);
  } catch (error) {
    throw isGatewayError(error) ? error : unauthenticated(`sessionScope threw: ${String(error)}`);
  }
  if (typeof scope === 'string' && scope !== '') return scope;
  throw unauthenticated('sessionScope returned no text');
}
