import { fieldError } from '../../shared/errors.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { Limits } from '../config/limits.js';
import { schedulesOf } from '../held/scheduling.js';
import { newScheduleId } from '../ids.js';
import type { SessionRoom } from '../limits/session-room.js';
import { asUnavailable } from '../log/unavailable.js';
import { currentContext } from '../methods/context.js';
import { checkTimes } from '../schedules/check-times.js';
import { storeTime } from '../stores/skew.js';
import type { Caller } from './caller.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import type { Authorize } from './operation-parts.js';
import { byGrant } from './reach.js';

/** Bounds of schedules. */
export type ScheduleLimits = Pick<
  Limits,
  'schedulesPerSession' | 'scheduleMinMs' | 'scheduleGraceMs' | 'scheduleLength'
>;

/** The operations on a session's schedules. */
export class ScheduleOperations {
  readonly #env: OperationEnvironment;
  readonly #authorize: Authorize;
  readonly #room: SessionRoom;

  constructor(env: OperationEnvironment, { authorize, room }: { authorize: Authorize; room: SessionRoom }) {
    this.#env = env;
    this.#authorize = authorize;
    this.#room = room;
  }

  /** @throws GatewayError `INVALID_PARAMS` naming the field, `QUOTA_EXCEEDED`, and the errors of authorization */
  async schedule(params: ParamsOf<'schedule'>, caller: Caller): Promise<ResultOf<'schedule'>> {
    assertOpen(this.#env);
    const { quotas, store, sessions, schedules: limits } = this.#env;
    quotas.sends.take(caller.identity);
    const { sessionId, id = newScheduleId(), message, at, every, zone, missed = 'once' } = params;
    const { scheduleLength, schedulesPerSession } = limits;
    if (message.length > scheduleLength)
      throw fieldError('message', `must have at most ${scheduleLength} characters (limits.scheduleLength)`);
    const times = {
      ...(at !== undefined && { at }),
      ...(every !== undefined && { every }),
      ...(zone !== undefined && { zone }),
    };
    const reach = await this.#authorize(sessionId, 'schedule', caller);
    const { ref } = reach;
    await checkTimes(times, storeTime(store), limits);
    await this.#room.check(ref);
    const { user, scope, userKey } = caller.identity;
    const schedule = await sessions.perform(ref, {
      type: 'schedule',
      schedule: { id, message, ...times, missed, by: user.id },
      user,
      byHost: caller.transport === 'host' && currentContext()?.user?.id !== user.id,
      senderId: scope === userKey && !reach.via ? undefined : user.id,
      most: schedulesPerSession,
      ...byGrant(reach),
    });
    return { schedule };
  }

  async unschedule(
    { sessionId, id }: ParamsOf<'unschedule'>,
    caller: Caller,
  ): Promise<ResultOf<'unschedule'>> {
    assertOpen(this.#env);
    this.#env.quotas.sends.take(caller.identity);
    const reach = await this.#authorize(sessionId, 'unschedule', caller);
    const by = caller.identity.user.id;
    await this.#env.sessions.perform(reach.ref, { type: 'unschedule', id, by, ...byGrant(reach) });
    return { ok: true };
  }

  /** @throws GatewayError `SESSION_NOT_FOUND` */
  async schedules({ sessionId }: ParamsOf<'schedules'>, caller: Caller): Promise<ResultOf<'schedules'>> {
    const { ref } = await this.#authorize(sessionId, 'schedules', caller);
    const { log } = await this.#env.sessions.existing(ref);
    const kept = await asUnavailable(() => schedulesOf(this.#env.store, ref, log!.ref.epoch));
    return { schedules: kept.map(({ schedule }) => schedule) };
  }
}
