import type { Feature } from '../../operations/feature.js';
import { dueIn } from '../../sessions/due-in-session.js';
import type { SessionRef } from '../../stores/stored.js';
import { retracting } from './host-calls.js';
import { type AskedRetraction, forget, RETRACTIONS, retract } from './retracting.js';

declare module '../../sessions/session-work.js' {
  interface SessionWork {
    /** Takes a message back. */
    retract: { readonly input: AskedRetraction; readonly output: void };
    /** Drops the events that have what was taken back. */
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
  open: ({ features }) => ({
    hostCalls: (env) => ({
      retract: retracting(env, async (ref: SessionRef, messageId: string) => {
        for (const feature of features()) await feature.retracted?.(ref, messageId);
      }),
    }),
  }),
};
