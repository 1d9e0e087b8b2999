import { fieldError } from '../../shared/errors.js';
import { andThen } from '../async/maybe-promise.js';
import type { Handlers } from './call.js';
import type { OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';

type Changes = 'abort' | 'close' | 'delete' | 'tool-response' | 'channel' | 'update' | 'move' | 'fork';

/** The operations that change a session other than by a message: they answer, publish, name, move, copy and end. */
export const changeOperations = (
  { sessions }: OperationEnvironment,
  { authorize, room }: OperationParts,
): Handlers<Changes> => ({
  abort: async ({ runId, reason }, call) => ({
    aborted: await call.perform({ type: 'abort', runId, reason }),
  }),

  close: (_params, call) => call.done({ type: 'close', reason: 'closed' }),

  async delete(_params, { reach }) {
    await sessions.delete(reach.ref);
    return { ok: true };
  },

  async 'tool-response'({ callId, sessionId: _, ...answer }, call) {
    const { user, link: guest } = call.caller.person;
    const { id: by, roles } = user;
    const { app } = call.reach.ref;
    const said = await sessions.sender.checkedAnswer(app, answer, user);
    const given = { ...said, by, givenBy: guest?.givenBy, roles };
    await call.perform({ type: 'respond', callId, answer: given });
    return { ok: true };
  },

  channel: ({ channel, type = 'message', payload = null }, call) => {
    const { user } = call.caller.person;
    const checked = sessions.sender.checkedAnswer(call.reach.ref.app, { payload }, user);
    return andThen(checked, (said) =>
      call.done({
        type: 'publish',
        channel,
        event: type,
        payload: said.payload,
        userId: user.id,
        stored: true,
      }),
    );
  },

  update: ({ sessionId: _, ...changes }, call) =>
    call.done({ type: 'update', changes, by: call.caller.person.user.id }),

  move: ({ tip, version }, call) => {
    const goal = version === undefined ? { tip: tip! } : { version };
    return call.perform({ type: 'move', goal, by: call.caller.person.user.id });
  },

  async fork({ to, at }, { reach: { ref: source }, caller }) {
    const { ref } = await authorize(to, 'fork', caller);
    if (ref.app !== source.app) throw fieldError('to', 'must be a session of the same app');
    await room.check(ref);
    const { id, ...place } = await sessions.beginnings.fork(source, ref, {
      at,
      userId: caller.person.user.id,
    });
    return { sessionId: id, ...place };
  },
});
