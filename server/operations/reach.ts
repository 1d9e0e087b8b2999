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
import { IDLE, type SessionRef } from '../stores/store.js';

/** The grant by which somebody reaches another's session. */
export interface Via {
  readonly grantId: string;
  readonly as: GrantRole;
  readonly hide: readonly HiddenPart[];
  /** The conversation that is shared. */
  readonly epoch: string;
  readonly view: View;
}

/** A session that a caller may do something with. */
export interface Reach {
  readonly ref: SessionRef;
  /** As its caller names it, which is what answers and events call it. */
  readonly sessionId: string;
  /** Absent where it is of the caller's own scope. */
  readonly via?: Via;
}

/** What is followed of a session: its events, or a run of it. */
export interface Followable extends Subscribable {
  readonly viewers: Viewers;
}

/** A session as its caller sees it. */
export const asReached = (session: Session, { via, sessionId }: Reach): Followable =>
  via ? new GrantedSession(session, sessionId, via) : session;

/** What of messages a caller is shown. */
export const shownMessages = (messages: readonly Message[], { via }: Reach): readonly Message[] =>
  via ? messages.map(via.view.message) : messages;

/** @throws GatewayError `SESSION_NOT_FOUND` where a place is in another conversation than the one that is shared */
export function assertShared(cursor: string, { via }: Reach): void {
  if (via && parseCursor(cursor)?.epoch !== via.epoch) throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
}

/** A session that is reached by a grant: one conversation of it, under the grant's address. */
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

  /** What comes behind the conversation was not shared. */
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
