import { isGatewayError } from '../../shared/errors.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import type { Deadlines } from '../async/deadlines.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { NamedFiles } from '../files/files.js';
import { checkChanges } from '../held/session-changes.js';
import { newRequestId } from '../ids.js';
import { pathTo } from '../log/message-tree.js';
import { unanswered } from '../log/unavailable.js';
import type { SessionRef } from '../stores/stored.js';
import type { SessionEnvironment } from './environment.js';
import { filesIn, forkSource } from './fork.js';
import { type Imported, importedBefore } from './import.js';
import type { Session } from './session.js';
import type { SessionInput, SessionWork } from './session-work.js';

/** A session that has begun with messages. */
export type BegunSession = HistoryPlace & { readonly id: string };

type BegunWith = SessionWork['begin']['input']['parts'];

/** The sessions among which one begins. */
interface BeginningSessions {
  get(ref: SessionRef): Session;
  /** @throws GatewayError `SESSION_NOT_FOUND` */
  existing(ref: SessionRef): MaybePromise<Session>;
  perform(ref: SessionRef, input: SessionInput & { readonly type: 'begin' }): MaybePromise<HistoryPlace>;
  discard(ref: SessionRef): Promise<void>;
}

type BeginningParts = Pick<SessionEnvironment, 'files' | 'limits' | 'store'> & {
  /** Bounds how long callers wait for an answer. The work itself goes on. */
  readonly deadlines: Deadlines;
};

/** Begins sessions with messages: forks and imports. One that was begun before in the same way is the same result. */
export class Beginnings {
  readonly #sessions: BeginningSessions;
  readonly #parts: BeginningParts;

  constructor(sessions: BeginningSessions, parts: BeginningParts) {
    this.#sessions = sessions;
    this.#parts = parts;
  }

  /**
   * Begins a session with the messages of another, which is only read.
   *
   * @param at Id of the last copied message. @default the last one that is shown
   * @throws GatewayError `SESSION_NOT_FOUND`, `MESSAGE_NOT_FOUND`, `SESSION_EXISTS`
   */
  fork(
    source: SessionRef,
    ref: SessionRef,
    given: { readonly at: string | undefined; readonly userId: string },
  ): Promise<BegunSession> {
    return this.#parts.deadlines.bound(this.#fork(source, ref, given), unanswered);
  }

  async #fork(
    source: SessionRef,
    ref: SessionRef,
    { at, userId }: { readonly at: string | undefined; readonly userId: string },
  ): Promise<BegunSession> {
    const { id: sessionId, log } = await this.#sessions.existing(source);
    const from = await forkSource(log!, at);
    const { title, metadata } = log!.state;
    const given = { ...(title !== undefined && { title }), ...(metadata && { metadata }) };
    const named = (await this.#parts.files.any(ref.scope)) ? await filesIn(log!, from) : [];
    const files = await this.#parts.files.carry(ref, newRequestId(), named);
    const messageId = from.messages.at(-1)?.id ?? from.tip ?? null;
    const parts = { ...given, from, source: log!.ref, forkedFrom: { sessionId, messageId } };
    try {
      return await this.#begin(ref, { ...parts, userId }, files, () => this.#forked(sessionId, ref, at));
    } catch (error) {
      // Nothing of a source that is gone is kept, its name included.
      if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') await this.#sessions.discard(ref);
      throw error;
    }
  }

  /**
   * Begins a session with imported messages, each behind the one before it.
   *
   * @throws GatewayError `SESSION_EXISTS`; `FILE_NOT_FOUND` for a file that they name
   */
  import(ref: SessionRef, given: Imported): Promise<BegunSession> {
    return this.#parts.deadlines.bound(this.#import(ref, given), unanswered);
  }

  async #import(ref: SessionRef, { messages, userId, ...about }: Imported): Promise<BegunSession> {
    checkChanges(about, this.#parts.limits);
    const files = await this.#parts.files.name(ref, newRequestId(), messages, Number.POSITIVE_INFINITY);
    const parts = { ...about, from: { messages: files?.messages ?? messages }, userId };
    return this.#begin(ref, parts, files, async () =>
      importedBefore(await this.#sessions.existing(ref), { messages, ...about }),
    );
  }

  /** @param known The result if the session was begun before in the same way; null if it comes from somewhere else */
  async #begin(
    ref: SessionRef,
    { userId, ...parts }: BegunWith & { readonly userId: string },
    files: Omit<NamedFiles, 'messages'> | null,
    known: () => Promise<BegunSession | null>,
  ): Promise<BegunSession> {
    try {
      const begun = await this.#sessions.perform(ref, { type: 'begin', userId, parts });
      files?.accepted(begun.cursor);
      return { id: this.#sessions.get(ref).id, ...begun };
    } catch (error) {
      files?.withdrawn();
      const before = isGatewayError(error) && error.code === 'SESSION_EXISTS' ? await known() : null;
      if (before) return before;
      throw error;
    }
  }

  async #forked(sourceId: string, ref: SessionRef, at: string | undefined): Promise<BegunSession | null> {
    const record = await this.#parts.store.record(ref);
    const { sessionId, messageId = null } = record?.forkedFrom ?? {};
    if (sessionId !== sourceId || (at !== undefined && at !== messageId)) return null;
    const { id, log } = await this.#sessions.existing(ref);
    await log?.folded();
    // A fork that failed has left the session empty.
    if (!log || (messageId !== null && (await pathTo(log, messageId, 1)).length === 0)) return null;
    // The first event says which messages the session began with.
    return { id, tip: messageId, cursor: log.cursorAt(messageId === null ? 0 : 1) };
  }
}
