import { parseCursor } from '../../shared/cursor.js';
import { fieldError, GatewayError } from '../../shared/errors.js';
import { formatListPlace, parseListPlace } from '../../shared/list-place.js';
import type { Message } from '../../shared/messages.js';
import type { ParamsOf, ResultOf, SessionSummary } from '../../shared/operation-types.js';
import { pick } from '../../shared/pick.js';
import { PROTOCOL_RANGE } from '../../shared/version.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { nextTurn } from '../async/turn.js';
import { nameOf, userOfScope } from '../auth/scope.js';
import type { Person } from '../auth/types.js';
import { resultOf } from '../log/outcome.js';
import { historyPage } from '../log/page.js';
import { asUnavailable } from '../log/unavailable.js';
import { originOf, stateOf } from '../sessions/find-run.js';
import type { Session } from '../sessions/session.js';
import type { RunRecord, SessionRecord, SessionRef } from '../stores/stored.js';
import type { Access } from './access.js';
import { type Handlers, SessionCall } from './call.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';
import type { GrantOperations } from './grant-operations.js';
import { assertShared, type Reach, shownMessages } from './reach.js';

const PAGE = 50;
/** Sessions that are listed in one piece. */
const PART = 50;
/** Characters of metadata, from which on a page of sessions ends. */
const LIST_BYTES = 512 * 1024;

/** A run of a session, found by its id. */
interface LocatedRun {
  readonly session: Session;
  readonly record: RunRecord;
  /** Cursor just before its `message_accepted`. */
  readonly cursor: string;
}

/** A run that was found by the idempotency key of its message. */
export interface SentRun {
  readonly runId: string;
  /** Cursor just before its `message_accepted`. */
  readonly cursor: string;
  /** The message; absent if its `message_accepted` is not kept any more. */
  readonly message?: Message;
}

/** The operations that only read. They never move a session to this gateway. */
export class ReadOperations {
  readonly #env: OperationEnvironment;
  readonly #access: Access;
  readonly #sharing: GrantOperations;

  constructor(
    env: OperationEnvironment,
    { access, sharing }: { readonly access: Access; readonly sharing: GrantOperations },
  ) {
    this.#env = env;
    this.#access = access;
    this.#sharing = sharing;
  }

  readonly handlers: Handlers<'history' | 'sessions' | 'status' | 'run'> = {
    history: async ({ limit = PAGE, before }, { reach }) => {
      const { log } = await this.#existing(reach);
      await log!.folded();
      const page = await historyPage(log!, before, { limit, bytes: log!.pageBytes });
      return { ...page, messages: shownMessages(page.messages, reach) };
    },

    sessions: ({ shared = false, all = false, ...params }, { caller }) => {
      const { person } = caller;
      if (all && shared) throw fieldError('all', 'goes with no `shared`');
      if (all) return this.#listAll(params, person);
      if (shared) return this.#sharing.sharedWith(params, caller, (record) => this.#summaryOf(record));
      return this.list(
        person.scope,
        params,
        async (ref) =>
          (await this.#access.mayUse(ref.app, person)) && this.#access.mayReach(ref, 'sessions', person),
      );
    },

    status: (_params, call) =>
      call instanceof SessionCall ? this.#statusOf(call.reach) : this.#ownStatus(call.caller),

    run: async ({ runId }, { reach }) => {
      const { session, record, cursor } = await this.find(runId, reach);
      const state = await asUnavailable(() => stateOf(record, session));
      const result = await asUnavailable(() => resultOf(this.#env.store, reach.ref, record));
      const shown = result && reach.via ? reach.via.view.result(result) : result;
      return {
        runId: record.runId,
        sessionId: reach.sessionId,
        state,
        cursor,
        ...(shown && { result: shown }),
      };
    },
  };

  /** A page of the sessions of all users. @throws GatewayError `ACCESS_DENIED` */
  async #listAll(params: ParamsOf<'sessions'>, person: Person): Promise<ResultOf<'sessions'>> {
    if (!(await this.#access.mayOversee(person))) {
      const message = 'You may not read the sessions of all users (oversight)';
      throw new GatewayError({ code: 'ACCESS_DENIED', message });
    }
    const mayShow = async (ref: SessionRef): Promise<boolean> =>
      this.#env.apps.has(ref.app) &&
      (await this.#access.mayUse(ref.app, person)) &&
      this.#access.mayOversee(person, ref);
    return this.list(null, params, mayShow, (record) => {
      // Its owner's names lead nobody else to a session.
      const { forkedFrom: _, ...summary } = this.#summaryOf(record);
      const owner = userOfScope(record.ref.scope);
      return { ...summary, sessionId: this.#access.overseenId(record.ref), ...(owner && { owner }) };
    });
  }

  /** A page of the open sessions of a scope, or of all. @param mayShow Whether the caller may see a session */
  async list(
    scope: string | null,
    { limit = PAGE, before, app, ...filter }: ParamsOf<'sessions'>,
    mayShow: (ref: SessionRef) => MaybePromise<boolean>,
    summaryOf = (record: SessionRecord): SessionSummary => this.#summaryOf(record),
  ): Promise<ResultOf<'sessions'>> {
    const sessions: SessionSummary[] = [];
    let bytes = 0;
    let place = parseListPlace(before, 'before');
    // In parts, so that a long list holds up nobody, and ends where it grows heavy.
    for (let left = limit; ; left -= PART) {
      const part = { limit: Math.min(left, PART), before: place };
      const { records, next } = await this.#env.store.list(scope, part, filter);
      for (const record of records) {
        if (app !== undefined && record.ref.app !== app) continue;
        if (!(await mayShow(record.ref))) continue;
        bytes += record.metadata ? JSON.stringify(record.metadata).length : 0;
        sessions.push(summaryOf(record));
      }
      if (!next || left <= PART || bytes > LIST_BYTES) return { sessions, cursor: formatListPlace(next) };
      place = next;
      await nextTurn();
    }
  }

  #summaryOf(record: SessionRecord): SessionSummary {
    const { ref, activity, archived = false, forkedFrom, createdAt, updatedAt } = record;
    return {
      sessionId: this.#env.apps.format(ref.app, ref.name),
      app: ref.app,
      status: activity.status,
      ...pick(record, 'title', 'preview', 'metadata', 'messageCount', 'pending', 'failed'),
      archived,
      ...(forkedFrom && { forkedFrom }),
      createdAt,
      updatedAt,
    };
  }

  #ownStatus({ person }: Caller): MaybePromise<ResultOf<'status'>> {
    const { gatewayId, state } = this.#env;
    return andThen(this.#access.mayOversee(person), (oversees) => ({
      gatewayId,
      protocol: PROTOCOL_RANGE,
      draining: state.draining,
      user: nameOf(person.user),
      ...(oversees && { oversees: true }),
    }));
  }

  async #statusOf(reach: Reach): Promise<ResultOf<'status'>> {
    const session = await this.#existing(reach);
    const log = session.log!;
    const { first, head, cursor } = log;
    return {
      sessionId: reach.sessionId,
      app: session.ref.app,
      ...session.describe(),
      epoch: log.ref.epoch,
      first,
      head,
      cursor,
    };
  }

  async #existing({ ref, via }: Reach): Promise<Session> {
    const session = await this.#env.sessions.existing(ref);
    // The session may have been closed and begun again since it was authorized.
    if (via) assertShared(session.log!.cursor, { ref, via, sessionId: session.id });
    return session;
  }

  /** @throws GatewayError `RUN_NOT_FOUND`, also for a run that the caller may not see */
  async find(runId: string, reach: Reach): Promise<LocatedRun> {
    const { ref, via } = reach;
    const session = this.#env.sessions.get(ref);
    // Look at the session before the record, so that a run that ends meanwhile is reported as ended.
    await session.look();
    const record = await this.#env.store.run(ref, { runId });
    if (!record) {
      this.#env.sessions.forget(session);
      throw new GatewayError({ code: 'RUN_NOT_FOUND' });
    }
    const { cursor } = await originOf(this.#env.store, session, record);
    if (via && parseCursor(cursor)?.epoch !== via.epoch) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
    return { session, record, cursor };
  }

  /** Finds the run that an idempotency key began; null if there is none. */
  async sent(key: string, reach: Reach): Promise<SentRun | null> {
    const { ref } = reach;
    const record = await this.#env.store.run(ref, { key });
    if (!record) return null;
    const session = this.#env.sessions.get(ref);
    await session.look();
    const { message, cursor } = await originOf(this.#env.store, session, record);
    assertShared(cursor, reach);
    return { runId: record.runId, cursor, ...(message && { message: shownMessages([message], reach)[0]! }) };
  }
}
