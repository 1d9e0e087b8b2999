import { fieldError, GatewayError } from '../../../shared/errors.js';
import type { ParamsOf, ResultOf } from '../../../shared/operation-types.js';
import type { PresenceMember } from '../../../shared/presence/contract.js';
import { errand } from '../../cluster/errands.js';
import type { EventConnection } from '../../delivery/connection.js';
import { newCallId } from '../../ids.js';
import { LimitError } from '../../limit-error.js';
import type { Handlers } from '../../operations/call.js';
import type { Caller } from '../../operations/caller.js';
import type { OperationEnvironment } from '../../operations/environment.js';
import type { OperationParts } from '../../operations/operation-parts.js';
import type { Reach } from '../../operations/reach.js';
import type { PresenceBoard } from './presence-board.js';
import type { Roster, RosterListener } from './roster.js';

/** Forwards a presence call to the gateway that has the connection. */
const ATTEND = errand<
  { readonly params: ParamsOf<'presence'>; readonly person: Caller['person'] },
  ResultOf<'presence'>
>('attend');

/** The presence of one connection in a session. */
interface Attendance {
  readonly id: string;
  readonly roster: Roster;
}

/** Tells followers of a session which members are present, on request. */
export function presenceOperations(
  board: PresenceBoard,
  { connections, sessions, limits }: OperationEnvironment,
  { authorize }: OperationParts,
): Handlers<'presence'> {
  const { errands } = sessions.cluster;
  const everybody = new WeakMap<EventConnection, Map<string, Attendance>>();

  /** @throws GatewayError `CONNECTION_NOT_FOUND` if it does not follow the session, `TOO_MANY_CONNECTIONS`, `INVALID_PARAMS` naming the field */
  async function presence(
    { connectionId, state, data }: ParamsOf<'presence'>,
    person: Caller['person'],
    { ref, sessionId: id, via }: Reach,
  ): Promise<ResultOf<'presence'>> {
    const { presenceMembers, presenceBytes } = limits;
    checkData(data, presenceBytes);
    const connection = connections.get(connectionId);
    const { scope, key: userKey } = person;
    const isOwn = connection?.person.scope === scope && connection.person.key === userKey;
    if (!connection || !isOwn || !connection.sessionIds.includes(id))
      throw new GatewayError({ code: 'CONNECTION_NOT_FOUND' });
    const attended = everybody.get(connection) ?? new Map<string, Attendance>();
    everybody.set(connection, attended);
    if (state === 'gone') {
      connection.release(id);
      return { id: '', members: board.members(ref) };
    }
    const roster = await board.roster(ref);
    const attendance = attended.get(id) ?? { id: newCallId().replace('call_', 'here_'), roster };
    if (state !== undefined && !roster.has(attendance.id)) {
      // Others fill no place of an owner, and one of them, by however many names, no more than half of all.
      const owns = !via && ref.scope === person.key;
      const most = owns ? presenceMembers : Math.max(1, presenceMembers / 2);
      if (roster.count(person.key) >= most || (!owns && roster.size >= presenceMembers))
        throw new LimitError('limits.presenceMembers', {
          code: 'TOO_MANY_CONNECTIONS',
          message: `A session has at most ${presenceMembers} people present (limits.presenceMembers), and half of them are one person`,
        });
    }
    if (!attended.has(id) && !connection.closed) {
      attended.set(id, attendance);
      const listener: RosterListener = (change) => connection.send('presence', { sessionId: id, ...change });
      roster.listen(listener);
      connection.onRelease(id, () => {
        attended.delete(id);
        board.leave(ref, attendance.id, listener);
      });
    }
    if (state !== undefined && attended.has(id)) {
      const member: PresenceMember = {
        ...{ id: attendance.id, userId: person.user.id, state },
        ...(data !== undefined && { data }),
      };
      roster.put(member, '', person.key);
    }
    return { id: attendance.id, members: roster.members() };
  }

  // The other gateway authenticated and admitted the caller; authorize again here.
  errands.on(ATTEND, async ({ params, person }) =>
    presence(params, person, await authorize(params.sessionId, 'presence', { person })),
  );
  return {
    async presence(params, { reach, caller: { person } }) {
      const holder = connections.elsewhere(params.connectionId);
      if (holder === null) return presence(params, person, reach);
      const done = await errands.ask(holder, ATTEND, { params, person });
      if (!done) throw new GatewayError({ code: 'CONNECTION_NOT_FOUND' });
      return done;
    },
  };
}

/** @throws GatewayError `INVALID_PARAMS` for data that is too long */
function checkData(data: unknown, most: number): void {
  if (data === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(data));
  if (bytes > most)
    throw fieldError('data', `must have at most ${most} bytes of JSON (limits.presenceBytes), not ${bytes}`);
}
