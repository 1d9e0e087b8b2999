import { fieldError } from '../../../shared/errors.js';
import type { Handlers } from '../../operations/call.js';
import type { Feature } from '../../operations/feature.js';
import { checkNote } from '../../operations/note-length.js';
import { dueIn } from '../../sessions/due-in-session.js';
import { type AskedRetraction, forget, RETRACTIONS, retract } from './retracting.js';
import { takingBack } from './taking-back.js';

declare module '../../sessions/session-work.js' {
  interface SessionWork {
    /** Takes a message back. */
    retract: { readonly input: AskedRetraction; readonly output: void };
    /** Rewrites what is left of what was taken back. */
    forget: { readonly input: { readonly id: string }; readonly output: void };
  }
}

/** Messages that are taken back. */
export const retractionFeature: Feature = {
  handle: (_call, hostCall) => ({
    async retract(messageId, options = {}) {
      await hostCall('retract', { messageId, ...options });
    },
  }),
  work: { retract: { does: retract }, forget: { does: forget } },
  kinds: [RETRACTIONS],
  due: [dueIn(RETRACTIONS, ({ id }) => ({ type: 'forget', id }))],
  causes: {
    message_replaced({ messageId, retracted }, { log: { epoch }, before: { messages } }) {
      if (!retracted) return null;
      const { by, reason } = retracted;
      const runId = messages.findLast(({ id }) => id === messageId)?.runId;
      return {
        // A person who has read it may have been told of it elsewhere.
        ...{ kind: 'message_retracted', of: [epoch, messageId], messageId, always: true },
        ...(runId !== undefined && { runId }),
        ...(by !== undefined && { by }),
        ...(reason !== undefined && { reason }),
      };
    },
  },
  operations(env) {
    const takeBack = takingBack(env);
    return {
      retract({ messageId, reason }, call) {
        checkNote('reason', reason, env.limits.noteLength);
        return takeBack(messageId, { by: call.caller.person.id, reason }, call);
      },
    } satisfies Handlers<'retract'>;
  },
  hostCalls(env) {
    const takeBack = takingBack(env);
    return {
      retract({ messageId, by, reason }, call) {
        for (const [name, value] of Object.entries({ by, reason }))
          if (value !== undefined && typeof value !== 'string') throw fieldError(name, 'must be a text');
        return takeBack(messageId, { by, reason }, call);
      },
    };
  },
};
