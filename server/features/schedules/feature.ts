import type { Schedule } from '../../../shared/schedules/contract.js';
import { asUnavailable } from '../../log/unavailable.js';
import { noticeId } from '../../notices/causes.js';
import type { Feature } from '../../operations/feature.js';
import { scheduleOperations } from './operations.js';
import { keptOf, SCHEDULE } from './schedule-record.js';
import {
  type DueSchedule,
  fireSchedule,
  type NewSchedule,
  schedulesAfter,
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
  work: {
    schedule: { begins: ({ user }) => ({ userId: user.id }), does: setSchedule },
    unschedule: { does: unsetSchedule },
    fire: { does: fireSchedule },
  },
  due: {
    async [SCHEDULE]({ home, id, value, token }, { now }, { limits: { scheduleGraceMs: graceMs }, actorOf }) {
      const kept = keptOf({ value });
      const { nextAt, every } = kept.schedule;
      const fire = { type: 'fire', record: { id, value, token }, now, graceMs } as const;
      try {
        const user = await actorOf(home, kept);
        return user ? { ...fire, as: { user }, via: kept.grantId } : { ...fire, as: { skipped: 'refused' } };
      } catch (error) {
        // It comes again anyway, and its instants must not pile up.
        if (every === undefined || now - nextAt <= graceMs) throw error;
        return { ...fire, as: { skipped: 'unavailable' } };
      }
    },
  },
  exports: {
    async *schedules({ store, ref }, log) {
      for (const { schedule } of await asUnavailable(() => schedulesOf(store, ref, log.ref.epoch)))
        yield schedule;
    },
  },
  endsWithGrant: schedulesAfter,
  causes: {
    schedule_fired({ id, instant, runId }, { log: { epoch } }) {
      // A skipped instant leaves nothing to look at.
      if (runId === undefined) return null;
      return {
        ...{ id: noticeId('schedule_fired', epoch, id, instant), kind: 'schedule_fired', runId },
        schedule: { id, instant },
      };
    },
  },
};
