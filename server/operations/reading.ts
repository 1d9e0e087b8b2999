import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import { PROTOCOL_RANGE } from '../../shared/version.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { AccessedOperation } from '../config/access.js';
import { historyPage } from '../log/page.js';
import { originOf, stateOf } from '../sessions/find-run.js';
import type { Session } from '../sessions/session.js';
import { IDLE, type RunRecord, type SessionRef } from '../stores/store.js';
import type { Access } from './access.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';

const PAGE = 50;

/** The place a key names for a caller. @throws GatewayError `INVALID_REQUEST`, `APP_NOT_FOUND`, `SESSION_NOT_FOUND` */
export type Authorize = (
  sessionId: string,
  operation: AccessedOperation,
  caller: Pick<Caller, 'identity'>,
) => MaybePromise<SessionRef>;

/** A run of a session, found by its id. */
interface FoundRun {
  readonly session: Session;
  readonly record: RunRecord;
  /** Place just before its `message_accepted`. */
  readonly cursor: string;
}

/** The operations that only read: they take a session from nobody. */
export class Reading {
  readonly #env: OperationEnvironment;
  readonly #access: Access;
  readonly #authorize: Authorize;

  constructor(env: OperationEnvironment, access: Access, authorize: Authorize) {
    this.#env = env;
    this.#access = access;
    this.#authorize = authorize;
  }

  async history(params: ParamsOf<'history'>, caller: Caller): Promise<ResultOf<'history'>> {
    const { sessionId, limit = PAGE, before } = params;
    const session = await this.#existing(sessionId, 'history', caller);
    const log = session.log!;
    await log.folded();
    return historyPage(log, before, { limit, bytes: log.pageBytes });
  }

  async sessions(params: ParamsOf<'sessions'>, caller: Caller): Promise<ResultOf<'sessions'>> {
    const { limit = PAGE, before } = params;
    const place = before === undefined ? undefined : Number(before);
    if (place !== undefined && !Number.isSafeInteger(place))
      throw invalid('before', 'not a cursor of this list');
    const page = await this.#env.store.list(caller.identity.scope, { limit, before: place });
    const sessions = [];
    for (const { ref, createdAt, updatedAt, activity = IDLE } of page.records) {
      const sessionId = this.#env.apps.format(ref.app, ref.name);
      if (!(await this.#access.mayUse(ref.app, caller.identity))) continue;
      if (!(await this.#access.mayReach(ref, 'sessions', caller.identity))) continue;
      sessions.push({ sessionId, app: ref.app, status: activity.status, createdAt, updatedAt });
    }
    return { sessions, cursor: page.next === null ? null : String(page.next) };
  }

  async status({ sessionId }: ParamsOf<'status'>, caller: Caller): Promise<ResultOf<'status'>> {
    if (sessionId === undefined) {
      const { gatewayId, state } = this.#env;
      return {
        gatewayId,
        protocol: PROTOCOL_RANGE,
        draining: state.draining,
        user: { id: caller.identity.user.id },
      };
    }
    const session = await this.#existing(sessionId, 'status', caller);
    const log = session.log!;
    const { first, head, cursor } = log;
    return {
      sessionId: session.id,
      app: session.ref.app,
      ...session.describe(),
      epoch: log.ref.epoch,
      first,
      head,
      cursor,
    };
  }

  async #existing(sessionId: string, operation: OperationName, caller: Caller): Promise<Session> {
    return this.#env.sessions.existing(await this.#authorize(sessionId, operation, caller));
  }

  async find({ runId, sessionId }: ParamsOf<'run'>, caller: Caller): Promise<FoundRun> {
    const unknown = (): GatewayError => new GatewayError({ code: 'RUN_NOT_FOUND' });
    let key = sessionId;
    if (key === undefined) {
      const ref = await this.#env.store.sessionOf(caller.identity.scope, runId);
      if (!ref || !this.#env.apps.has(ref.app)) throw unknown();
      key = this.#env.apps.format(ref.app, ref.name);
    }
    const ref = await this.#reached(key, caller, sessionId === undefined ? unknown : null);
    const session = this.#env.sessions.get(ref);
    // What it is doing is looked at first: a run that ends meanwhile is told as ended.
    await session.look();
    const record = await this.#env.store.run(ref, { runId });
    if (!record) {
      this.#env.sessions.forget(session);
      throw unknown();
    }
    return { session, record, cursor: (await originOf(this.#env.store, session, record)).cursor };
  }

  /** The place of a run's session. @param unknown What somebody is told who did not name it, and is not to know that it is there */
  async #reached(key: string, caller: Caller, unknown: (() => GatewayError) | null): Promise<SessionRef> {
    try {
      return await this.#authorize(key, 'run', caller);
    } catch (error) {
      throw unknown && isGatewayError(error) && error.code === 'SESSION_NOT_FOUND' ? unknown() : error;
    }
  }

  async run(params: ParamsOf<'run'>, caller: Caller): Promise<ResultOf<'run'>> {
    const { session, record, cursor } = await this.find(params, caller);
    const { runId, result } = record;
    const state = stateOf(record, session);
    return { runId, sessionId: session.id, state, cursor, ...(result && { result }) };
  }
}

function invalid(path: string, message: string): GatewayError {
  return new GatewayError({
    code: 'INVALID_PARAMS',
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}
