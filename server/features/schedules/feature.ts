import type { Schedule } from '../../../shared/schedules/contract.js';
import type { Feature } from '../../operations/feature.js';
import { dueIn } from '../../sessions/due-in-session.js';
import { scheduleOperations } from './operations.js';
import { SCHEDULES } from './schedule-record.js';
import {
  type DueSchedule,
  fireSchedule,
  type NewSchedule,
  schedulesOf,
  setSchedule,
  unsetSchedule,
} from './scheduling.js';

declare module '../../sessions/session-work.js' {
  interface SessionWork {
    /** Sets a schedule. Begins a session that does not exist. */
    schedule: { readonly input: NewSchedule; readonly output: Schedule };
    /** Takes a schedule back, if there is one. */
    unschedule: { readonly input: { readonly id: string; readonly by: string }; readonly output: void };
    /** Fires a schedule that is due. */
    fire: { readonly input: DueSchedule; readonly output: void };
  }
}

/** Messages that are sent at their time. */
export const schedulesFeature: Feature = {
  operations: scheduleOperations,
  handle: (call) => ({
    schedule: async (schedule) => (await call('schedule', schedule)).schedule,
    async unschedule(id) {
      await call('unschedule', { id });
    },
    schedules: async () => (await call('schedules')).schedules,
  }),
  work: {
    schedule: { begins: ({ user }) => ({ userId: user.id }), does: setSchedule },
    unschedule: { does: unsetSchedule },
    fire: { does: fireSchedule },
  },
  kinds: [SCHEDULES],
  due: [
    dueIn(SCHEDULES, async (kept, { now }, { limits: { scheduleGraceMs: graceMs }, actorOf }) => {
      const { nextAt, every } = kept.value.schedule;
      const fire = { type: 'fire', kept, now, graceMs } as const;
      try {
        const actor = await actorOf(kept.home, kept.value);
        return actor
          ? { ...fire, as: actor, via: kept.value.grantId }
          : { ...fire, as: { skipped: 'refused' } };
      } catch (error) {
        // It comes again anyway, and its instants must not pile up.
        if (every === undefined || now - nextAt <= graceMs) throw error;
        return { ...fire, as: { skipped: 'unavailable' } };
      }
    }),
  ],
  exports: {
    async *schedules({ store }, log) {
      yield* await schedulesOf(store, log.ref);
    },
  },
  causes: {
    schedule_fired({ id, instant, runId }, { log: { epoch } }) {
      // A skipped instant leaves nothing to look at.
      if (runId === undefined) return null;
      return {
        ...{ kind: 'schedule_fired', of: [epoch, id, instant], runId },
        schedule: { id, instant },
      };
    },
  },
};
