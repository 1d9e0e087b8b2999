import { grantName } from '../../../shared/grants.js';
import { userScope } from '../../auth/scope.js';
import { bearerOf, guestKey, type KeptGrant } from '../../grants/grant-record.js';
import type { RunSender } from '../../runs/live-run.js';
import type { SessionRef } from '../../stores/stored.js';
import type { KeptNotice } from './notice-record.js';

/** The receiver of the notices of a run, by its sender. @param sender null for those whose session it is */
export function receiverOf(sender: RunSender | null, scope: string): Pick<KeptNotice, 'to' | 'byGrant'> {
  if (!sender?.user) return { to: scope };
  const { user, grant } = sender;
  if (!grant) return { to: userScope(user) };
  return { to: grant.givenBy === undefined ? userScope(user) : guestKey(grant.id), byGrant: true };
}

/** The collaborators of `Receivers`. */
export interface ReceiverParts {
  /** The valid grants of a session. */
  readonly grants: {
    in(home: SessionRef): Promise<readonly { readonly epoch: string; readonly kept: KeptGrant }[]>;
  };
  /** A session's key. */
  format(session: Pick<SessionRef, 'app' | 'name'>): string;
}

/** Decides how the receiver of a notice reaches its session: as one whose session it is, or by a grant. */
export class Receivers {
  readonly #parts: ReceiverParts;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  /** The name of the session for the receiver of a notice; null if the grant has ended by which the receiver may read it. */
  async nameOf(
    home: SessionRef,
    { notice: { sessionId }, to, byGrant, place }: KeptNotice,
  ): Promise<string | null> {
    if (!byGrant) return sessionId;
    const grants = await this.#parts.grants.in(home);
    const grant = grants.find(
      ({ epoch, kept }) => (place === undefined || epoch === place.epoch) && bearerOf(kept) === to,
    );
    return grant ? this.#parts.format({ app: home.app, name: grantName(grant.kept.grant.grantId) }) : null;
  }
}
