import { parseCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { GrantRole, HiddenPart } from '../../shared/grants.js';
import type { Message } from '../../shared/messages.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { Subscribable, Subscription } from '../delivery/subscription.js';
import type { View } from '../grants/view.js';
import type { LogView } from '../log/log-view.js';
import type { ReadableLog } from '../log/readable-log.js';
import type { Session } from '../sessions/session.js';
import type { Viewers } from '../sessions/viewers.js';
import { IDLE, type SessionRef } from '../stores/stored.js';

/** The grant by which a caller reaches another user's session. */
export interface Via {
  readonly grantId: string;
  readonly as: GrantRole;
  readonly hide: readonly HiddenPart[];
  /** The conversation that is shared. */
  readonly epoch: string;
  readonly view: View;
}

/** A session that a caller may use for an operation. */
export interface Reach {
  readonly ref: SessionRef;
  /** The caller's name for the session, which results and events use too. */
  readonly sessionId: string;
  /** Absent if the session is of the caller's own scope. */
  readonly via?: Via;
}

/** A session whose events, or one of whose runs, can be followed. */
export interface Followable extends Subscribable {
  readonly viewers: Viewers;
}

/** The grant by which a caller has work done, for the holder of the session, who asks for it once more. Empty for an owner. */
export const byGrant = ({ via }: Reach): { readonly via?: string } => (via ? { via: via.grantId } : {});

/** The session in its caller's view. */
export const asReached = (session: Session, { via, sessionId }: Reach): Followable =>
  via ? new GrantedSession(session, sessionId, via) : session;

/** The messages in the caller's view, without hidden parts. */
export const shownMessages = (messages: readonly Message[], { via }: Reach): readonly Message[] =>
  via ? messages.map(via.view.message) : messages;

/** @throws GatewayError `SESSION_NOT_FOUND` if a cursor is in another conversation than the shared one */
export function assertShared(cursor: string, { via }: Reach): void {
  if (via && parseCursor(cursor)?.epoch !== via.epoch) throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
}

/** One conversation of a session, reached by a grant and named by the grant's address. */
class GrantedSession implements Followable {
  readonly id: string;
  readonly view: View;
  readonly #session: Session;
  readonly #epoch: string;

  constructor(session: Session, id: string, { view, epoch }: Via) {
    this.id = id;
    this.view = view;
    this.#session = session;
    this.#epoch = epoch;
  }

  get viewers(): Viewers {
    return this.#session.viewers;
  }
  get openings(): number {
    return this.#session.openings;
  }
  get log(): LogView | null {
    const { log } = this.#session;
    return log?.ref.epoch === this.#epoch ? log : null;
  }
  get runStart(): number | null {
    return this.log ? this.#session.runStart : null;
  }

  describe(): ReturnType<Subscribable['describe']> {
    const { status, queued } = IDLE;
    return this.log ? this.#session.describe() : { status, queued };
  }

  async pastLog(epoch: string): Promise<ReadableLog | null> {
    return epoch === this.#epoch ? this.#session.pastLog(epoch) : null;
  }

  lastLog(): Promise<ReadableLog | null> {
    return this.pastLog(this.#epoch);
  }

  /** Never leads past the shared conversation. */
  nextLog(after: string | null): MaybePromise<ReadableLog | 'gone' | null> {
    if (after !== null) return null;
    return andThen(this.#session.nextLog(null), (log) =>
      log !== 'gone' && log?.ref.epoch === this.#epoch ? log : null,
    );
  }

  refresh(): Promise<void> | null {
    return this.#session.refresh();
  }

  attach(subscription: Subscription): void {
    this.#session.attach(subscription);
  }

  detach(subscription: Subscription, left: boolean): void {
    this.#session.detach(subscription, left);
  }
}
