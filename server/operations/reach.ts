import { parseCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { GrantRole, HiddenPart } from '../../shared/grants.js';
import type { Message } from '../../shared/messages.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { Subscribable, Subscription } from '../delivery/subscription.js';
import { View } from '../grants/view.js';
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
  /** Whether the caller reads what is somebody else's, and shared with nobody. */
  readonly overseen?: true;
}

/** A session whose events, or one of whose runs, can be followed. */
export interface Followable extends Subscribable {
  readonly viewers: Viewers;
}

/** The grant by which a caller has work done, for the holder of the session, who asks for it once more. Empty for an owner. */
export const byGrant = ({ via }: Reach): { readonly via?: string } => (via ? { via: via.grantId } : {});

/** The session in its caller's view, by its caller's name. */
export const asReached = (session: Session, { via, sessionId }: Reach): Followable =>
  via || sessionId !== session.id ? new ReachedSession(session, sessionId, via) : session;

/** The messages in the caller's view, without hidden parts. */
export const shownMessages = (messages: readonly Message[], { via }: Reach): readonly Message[] =>
  via ? messages.map(via.view.message) : messages;

/** @throws GatewayError `SESSION_NOT_FOUND` if a cursor is in another conversation than the shared one */
export function assertShared(cursor: string, { via }: Reach): void {
  if (via && parseCursor(cursor)?.epoch !== via.epoch) throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
}

/** Shows all. Readers of a session under its own name share what is sent, so whoever has another name for it reads through a view. */
const WHOLE = new View([], 'operator');

/** A session under the address by which it is reached; by a grant one conversation of it. */
class ReachedSession implements Followable {
  readonly id: string;
  readonly view: View;
  readonly #session: Session;
  readonly #epoch: string | undefined;

  constructor(session: Session, id: string, via: Via | undefined) {
    this.id = id;
    this.view = via?.view ?? WHOLE;
    this.#session = session;
    this.#epoch = via?.epoch;
  }

  get facts(): Session['facts'] {
    return this.#session.facts;
  }
  get viewers(): Viewers {
    return this.#session.viewers;
  }
  get openings(): number {
    return this.#session.openings;
  }
  get log(): LogView | null {
    const { log } = this.#session;
    return log && this.#has(log.ref.epoch) ? log : null;
  }
  get runStart(): number | null {
    return this.log ? this.#session.runStart : null;
  }

  describe(): ReturnType<Subscribable['describe']> {
    const { status, queued } = IDLE;
    return this.log ? this.#session.describe() : { status, queued };
  }

  async pastLog(epoch: string): Promise<ReadableLog | null> {
    return this.#has(epoch) ? this.#session.pastLog(epoch) : null;
  }

  lastLog(): Promise<ReadableLog | null> {
    return this.#epoch === undefined ? this.#session.lastLog() : this.pastLog(this.#epoch);
  }

  /** Never leads past the shared conversation. */
  nextLog(after: string | null): MaybePromise<ReadableLog | 'gone' | null> {
    if (this.#epoch === undefined) return this.#session.nextLog(after);
    if (after !== null) return null;
    return andThen(this.#session.nextLog(null), (log) =>
      log !== 'gone' && log?.ref.epoch === this.#epoch ? log : null,
    );
  }

  #has(epoch: string): boolean {
    return this.#epoch === undefined || epoch === this.#epoch;
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
