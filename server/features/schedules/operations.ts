import { fieldError } from '../../../shared/errors.js';
import { textOf } from '../../../shared/messages.js';
import { newId } from '../../ids.js';
import { currentContext } from '../../methods/context.js';
import type { Handlers } from '../../operations/call.js';
import type { OperationEnvironment } from '../../operations/environment.js';
import { toMessage } from '../../runs/to-message.js';
import { textOfHome } from '../../stores/records.js';
import { storeTime } from '../../stores/skew.js';
import { checkTimes } from './check-times.js';
import { SCHEDULES } from './schedule-record.js';
import { schedulesOf } from './scheduling.js';

/** The operations on a session's schedules. */
export const scheduleOperations = ({
  sessions,
  store,
  owners,
  limits,
}: OperationEnvironment): Handlers<'schedule' | 'unschedule' | 'schedules'> => ({
  async schedule({ id = newId('sch'), message, at, every, zone, missed = 'once' }, call) {
    const { scheduleLength, schedulesPerSession, schedulesPerUser } = limits;
    if (message.length > scheduleLength)
      throw fieldError('message', `must have at most ${scheduleLength} characters (limits.scheduleLength)`);
    const times = {
      ...(at !== undefined && { at }),
      ...(every !== undefined && { every }),
      ...(zone !== undefined && { zone }),
    };
    await checkTimes(times, storeTime(store), limits);
    const { user, scope, key, pays } = call.caller.person;
    const [said] = await sessions.sender.checked(call.reach.ref.app, [toMessage(message)], user);
    const byHost = call.caller.transport === 'host' && currentContext()?.user?.id !== user.id;
    const isAlone = scope === key && !call.reach.via;
    const set = async () =>
      call.perform({
        type: 'schedule',
        schedule: { id, message: textOf(said!), ...times, missed, by: user.id },
        ...{ user, pays: pays.key, most: schedulesPerSession },
        ...(byHost && { byHost }),
        ...(!isAlone && { senderId: user.id }),
      });
    const schedule = await owners.add(
      {
        ...{
          kind: SCHEDULES.name,
          owner: pays.key,
          most: pays.kind === 'many' ? Number.POSITIVE_INFINITY : schedulesPerUser,
        },
        option: 'limits.schedulesPerUser',
        says: `A user has at most ${schedulesPerUser} schedules`,
        // One that is set again takes the place of itself.
        counts: (record) => record.id !== id || textOfHome(record.home) !== textOfHome(call.reach.ref),
      },
      set,
    );
    return { schedule };
  },

  unschedule: ({ id }, call) => call.done({ type: 'unschedule', id, by: call.caller.person.user.id }),

  async schedules(_params, { reach: { ref } }) {
    const { log } = await sessions.existing(ref);
    return { schedules: await schedulesOf(store, log!.ref) };
  },
});
