import { fieldError } from '../../../shared/errors.js';
import { newScheduleId } from '../../ids.js';
import { asUnavailable } from '../../log/unavailable.js';
import { currentContext } from '../../methods/context.js';
import type { Handlers } from '../../operations/call.js';
import type { OperationEnvironment } from '../../operations/environment.js';
import { storeTime } from '../../stores/skew.js';
import { checkTimes } from './check-times.js';
import { schedulesOf } from './scheduling.js';

/** The operations on a session's schedules. */
export const scheduleOperations = ({
  sessions,
  store,
  limits,
}: OperationEnvironment): Handlers<'schedule' | 'unschedule' | 'schedules'> => ({
  async schedule({ id = newScheduleId(), message, at, every, zone, missed = 'once' }, call) {
    const { scheduleLength, schedulesPerSession } = limits;
    if (message.length > scheduleLength)
      throw fieldError('message', `must have at most ${scheduleLength} characters (limits.scheduleLength)`);
    const times = {
      ...(at !== undefined && { at }),
      ...(every !== undefined && { every }),
      ...(zone !== undefined && { zone }),
    };
    await checkTimes(times, storeTime(store), limits);
    const { user, scope, key: userKey } = call.caller.person;
    const schedule = await call.perform({
      type: 'schedule',
      schedule: { id, message, ...times, missed, by: user.id },
      user,
      byHost: call.caller.transport === 'host' && currentContext()?.user?.id !== user.id,
      senderId: scope === userKey && !call.reach.via ? undefined : user.id,
      most: schedulesPerSession,
    });
    return { schedule };
  },

  unschedule: ({ id }, call) => call.done({ type: 'unschedule', id, by: call.caller.person.user.id }),

  async schedules(_params, { reach: { ref } }) {
    const { log } = await sessions.existing(ref);
    const kept = await asUnavailable(() => schedulesOf(store, ref, log!.ref.epoch));
    return { schedules: kept.map(({ schedule }) => schedule) };
  },
});
