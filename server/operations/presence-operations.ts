import { fieldError, GatewayError } from '../../shared/errors.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { PresenceMember } from '../../shared/presence.js';
import { errand } from '../cluster/errands.js';
import type { Limits } from '../config/limits.js';
import type { EventConnection } from '../delivery/connection.js';
import { newCallId } from '../ids.js';
import { LimitError } from '../limit-error.js';
import type { PresenceBoard } from '../presence/presence-board.js';
import type { Roster, RosterListener } from '../presence/roster.js';
import type { Caller } from './caller.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import type { Authorize } from './operation-parts.js';

/** Bounds of presence. */
export type PresenceLimits = Pick<Limits, 'presenceMembers' | 'presenceBytes'>;

/** Forwards a presence call to the gateway that has the connection. */
const ATTEND = errand<
  { readonly params: ParamsOf<'presence'>; readonly identity: Caller['identity'] },
  ResultOf<'presence'>
>('attend');

/** The presence of one connection in a session. */
interface Attendance {
  readonly id: string;
  readonly roster: Roster;
}

/** Tells followers of a session which members are present, on request. */
export class PresenceOperations {
  readonly #env: OperationEnvironment;
  readonly #board: PresenceBoard;
  readonly #authorize: Authorize;
  readonly #attended = new WeakMap<EventConnection, Map<string, Attendance>>();

  constructor(env: OperationEnvironment, { authorize }: { authorize: Authorize }) {
    this.#env = env;
    this.#board = env.board;
    this.#authorize = authorize;
    // The other gateway authenticated the caller; authorize again here.
    env.sessions.cluster.errands.on(ATTEND, ({ params, identity }) => this.presence(params, { identity }));
  }

  /** @throws GatewayError `CONNECTION_NOT_FOUND` if it does not follow the session, `TOO_MANY_CONNECTIONS`, `INVALID_PARAMS` naming the field */
  async presence(
    params: ParamsOf<'presence'>,
    { identity }: Pick<Caller, 'identity'>,
  ): Promise<ResultOf<'presence'>> {
    const { sessionId, connectionId, state, data } = params;
    const { connections, sessions, presenceLimits } = this.#env;
    const holder = connections.elsewhere(connectionId);
    if (holder !== null) {
      const done = await sessions.cluster.errands.ask(holder, ATTEND, { params, identity });
      if (!done) throw new GatewayError({ code: 'CONNECTION_NOT_FOUND' });
      return done;
    }
    assertOpen(this.#env);
    this.#env.quotas.reads.take(identity);
    checkData(data, presenceLimits);
    const { ref, sessionId: id } = await this.#authorize(sessionId, 'presence', { identity });
    const connection = connections.get(connectionId);
    const { scope, userKey } = identity;
    const isOwn = connection?.identity.scope === scope && connection.identity.userKey === userKey;
    if (!connection || !isOwn || !connection.sessionIds.includes(id))
      throw new GatewayError({ code: 'CONNECTION_NOT_FOUND' });
    const attended = this.#attended.get(connection) ?? new Map<string, Attendance>();
    this.#attended.set(connection, attended);
    if (state === 'gone') {
      connection.release(id);
      return { id: '', members: this.#board.members(ref) };
    }
    const roster = await this.#board.roster(ref);
    const attendance = attended.get(id) ?? { id: newCallId().replace('call_', 'here_'), roster };
    if (state !== undefined && !roster.has(attendance.id) && roster.size >= presenceLimits.presenceMembers)
      throw new LimitError('limits.presenceMembers', {
        code: 'TOO_MANY_CONNECTIONS',
        message: `A session has at most ${presenceLimits.presenceMembers} people present (limits.presenceMembers)`,
      });
    if (!attended.has(id) && !connection.closed) {
      attended.set(id, attendance);
      const listener: RosterListener = (change) => connection.send('presence', { sessionId: id, ...change });
      roster.listen(listener);
      connection.onRelease(id, () => {
        attended.delete(id);
        this.#board.leave(ref, attendance.id, listener);
      });
    }
    if (state !== undefined && attended.has(id)) {
      const member: PresenceMember = {
        ...{ id: attendance.id, userId: identity.user.id, state },
        ...(data !== undefined && { data }),
      };
      roster.put(member, '');
    }
    return { id: attendance.id, members: roster.members() };
  }
}

/** @throws GatewayError `INVALID_PARAMS` for data that is too long */
function checkData(data: unknown, { presenceBytes }: PresenceLimits): void {
  if (data === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(data));
  if (bytes > presenceBytes)
    throw fieldError(
      'data',
      `must have at most ${presenceBytes} bytes of JSON (limits.presenceBytes), not ${bytes}`,
    );
}
