import type { UserContext } from '../../shared/contract.js';
import { userOfScope } from '../auth/scope.js';
import type { Person } from '../auth/types.js';
import type { FairKey } from '../config/access.js';

/** The sender of a run. */
export interface Sender {
  readonly user: UserContext | null;
  /** The grant by which the sender came. One that was given as a link has a giver. */
  readonly grant?: { readonly givenBy?: string | undefined } | undefined;
}

/**
 * Tells whose work something is. A user without a tenant is one alone, and the bearer of a link works for the owner of the session.
 */
export class Tenancy {
  readonly #fairKey: FairKey | undefined;
  readonly #report: (error: unknown, what: string) => void;

  /** @param fairKey Where it throws or returns no text, the user has the default. */
  constructor(fairKey: FairKey | undefined, report: (error: unknown, what: string) => void) {
    this.#fairKey = fairKey;
    this.#report = report;
  }

  ofPerson({ user, link }: Person): string {
    return link ? this.#ofScope(link.scope) : this.#ofUser(user);
  }

  /** @param scope Scope of the session that the run is of */
  ofSender({ user, grant }: Sender, scope: string): string {
    return user && grant?.givenBy === undefined ? this.#ofUser(user) : this.#ofScope(scope);
  }

  #ofScope(scope: string): string {
    const owner = userOfScope(scope);
    return owner ? this.#ofUser(owner as UserContext) : `scope ${scope}`;
  }

  #ofUser(user: UserContext): string {
    const named = this.#fairKey && this.#asked(this.#fairKey, user);
    if (named !== undefined) return `key ${named}`;
    return user.tenantId === undefined ? `user ${user.id}` : `tenant ${user.tenantId}`;
  }

  #asked(fairKey: FairKey, user: UserContext): string | undefined {
    try {
      const named: unknown = fairKey(user);
      if (typeof named === 'string' && named !== '') return named;
      throw new TypeError('fairKey returned no text');
    } catch (error) {
      this.#report(error, 'fairKey named no tenant');
      return undefined;
    }
  }
}
