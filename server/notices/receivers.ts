import type { UserContext } from '../../shared/contract.js';
import { grantName } from '../../shared/grants.js';
import { userScope } from '../auth/scope.js';
import type { SessionRef } from '../stores/stored.js';
import type { KeptNotice } from './notice-record.js';

/** A valid grant of a session. */
interface SessionGrant {
  readonly kept: {
    readonly epoch: string;
    readonly grant: { readonly grantId: string };
    /** Absent for a link. */
    readonly userKey?: string;
  };
}

/** The collaborators of `Receivers`. */
export interface ReceiverParts {
  readonly grants: { in(home: SessionRef): Promise<readonly SessionGrant[]> };
  /** The scope of a user. */
  scopeOf(user: UserContext): string;
  /** A session's key. */
  format(session: Pick<SessionRef, 'app' | 'name'>): string;
}

/** Decides how the receiver of a notice reaches its session: as one whose session it is, or by a grant. */
export class Receivers {
  readonly #parts: ReceiverParts;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  /** The part of a notice's record that determines its receiver. @param user null for those whose session it is */
  of(user: UserContext | null, scope: string): Pick<KeptNotice, 'to' | 'via'> {
    if (!user) return { to: scope };
    const to = userScope(user);
    if (isGuest(user.id)) return { to, via: 'link' };
    return this.#isOf(user, scope) ? { to } : { to, via: 'grant' };
  }

  /** The name of the session for the receiver of a notice; null if the grant has ended by which the receiver may read it. */
  async nameOf(
    home: SessionRef,
    { notice: { sessionId }, to, via, place }: KeptNotice,
  ): Promise<string | null> {
    if (!via) return sessionId;
    const isTheirs = ({ kept: { epoch, userKey } }: SessionGrant): boolean =>
      (place === undefined || epoch === place.epoch) && userKey === (via === 'link' ? undefined : to);
    const grant = (await this.#parts.grants.in(home)).find(isTheirs);
    return grant ? this.#parts.format({ app: home.app, name: grantName(grant.kept.grant.grantId) }) : null;
  }

  #isOf(user: UserContext, scope: string): boolean {
    try {
      return this.#parts.scopeOf(user) === scope;
    } catch {
      // A user without a scope has no session.
      return false;
    }
  }
}

/** Whether a user came by a link. Guests of a link are not told apart, since no grant names them. */
const isGuest = (id: string): boolean => id.startsWith('guest_');
