import * as z from 'zod';
import type { UserContext } from '../../../shared/contract.js';
import type { Schedule } from '../../../shared/schedules/contract.js';
import { scheduleShape } from '../../../shared/schedules/schema.js';
import { kind } from '../../records/kind.js';

/** A schedule in its record. */
export interface KeptSchedule {
  /** The schedule. Its `nextAt` is the instant that is due. */
  readonly schedule: Schedule;
  /** The user who set it: an id, and no roles, which are asked for when it fires. */
  readonly user: UserContext;
  /** Key of the person whose allowance it takes. */
  readonly pays?: string;
  /** Whether host code has named the user, whom no directory may know. */
  readonly byHost?: boolean;
  /** Id of that user, if the session is shared between people. */
  readonly senderId?: string;
  /** The grant by which that user reached the session. The schedule ends with it. */
  readonly grantId?: string;
}

const schema = z.object({
  schedule: z.object(scheduleShape),
  user: z.looseObject({ id: z.string() }),
  pays: z.string().exactOptional(),
  byHost: z.boolean().exactOptional(),
  senderId: z.string().exactOptional(),
  grantId: z.string().exactOptional(),
}) as unknown as z.ZodType<KeptSchedule>;

/** Schedules, due at their next instants. The attempts of one instant are none of the next one. */
export const SCHEDULES = kind<KeptSchedule>({
  ...{ name: 'schedule', schema, endsWith: 'conversation' },
  ownerOf: ({ pays }) => pays,
  dueOf: ({ schedule: { nextAt } }) => nextAt,
  grantOf: ({ grantId }) => grantId,
  ended: (_kept, id) => ({ type: 'schedule_unset', ts: Date.now(), id, by: 'gateway' }),
});
