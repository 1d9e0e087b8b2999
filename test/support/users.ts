import { createIdentify } from '../../server/auth/identity.js';
import type { AuthConfig, BaseUser, Person } from '../../server/index.js';

/** Authentication by name: the bearer token `alice` is the user `alice`; `tenant/name` also has a tenant. `bad…` is refused. */
export const byName: AuthConfig = {
  type: 'custom',
  cookies: false,
  validate: async (token) => {
    if (token === undefined || token.startsWith('bad')) return { valid: false };
    return { valid: true, user: userNamed(token) };
  },
};

export function userNamed(token: string): BaseUser {
  const at = token.indexOf('/');
  return at < 0 ? { id: token } : { id: token.slice(at + 1), tenantId: token.slice(0, at) };
}

/** The header of a user of `byName`. */
export const as = (name: string): { readonly authorization: string } => ({ authorization: `Bearer ${name}` });

/** A person with sessions of their own. */
export const personOf = (id: string, given: Partial<Person> = {}): Person => ({
  ...createIdentify()({ id }),
  ...given,
});
