import * as z from 'zod';
import { ok, sessionId } from '../values/schema.js';

const every = z.union([z.string(), z.object({ ms: z.number() })]);
const missed = z.enum(['once', 'all', 'skip']);
const id = z.string().regex(/^[A-Za-z0-9_.:-]{1,64}$/, '1 to 64 of A-Z a-z 0-9 _ . : -');

/** Fields of a schedule. */
export const scheduleShape = {
  id: z.string(),
  message: z.string(),
  at: z.number().exactOptional(),
  every: every.exactOptional(),
  zone: z.string().exactOptional(),
  missed,
  by: z.string(),
  setAt: z.number(),
  nextAt: z.number(),
};

/** Params of `schedule`, beside the session. */
export const schedulingShape = {
  id: id.optional(),
  message: z.string().min(1),
  at: z.number().int().optional(),
  every: z.union([z.string().min(1).max(256), z.strictObject({ ms: z.number().int() })]).optional(),
  zone: z.string().min(1).max(64).optional(),
  missed: missed.optional(),
};

/** Fields of the events of schedules. */
export const scheduleEventShapes = {
  schedule_set: scheduleShape,
  schedule_unset: { id: z.string(), by: z.string() },
  schedule_fired: {
    id: z.string(),
    instant: z.number(),
    skipped: z.enum(['missed', 'busy', 'taken_over', 'refused', 'unavailable']).exactOptional(),
    missed: z.number().int().nonnegative().exactOptional(),
    nextAt: z.number().nullable(),
  },
};

/** Params and results of the operations on schedules. */
export const scheduleOperationSchemas = {
  schedule: {
    params: z
      .strictObject({ sessionId, ...schedulingShape })
      .refine(({ at, every }) => (at === undefined) !== (every === undefined), {
        path: ['every'],
        message: 'give either at or every',
      }),
    result: z.object({ schedule: z.object(scheduleShape) }),
  },
  unschedule: {
    params: z.strictObject({ sessionId, id }),
    result: ok,
  },
  schedules: {
    params: z.strictObject({ sessionId }),
    result: z.object({ schedules: z.array(z.object(scheduleShape)) }),
  },
};

/** Items of an export. */
export const scheduleExportSchemas = { schedules: z.object(scheduleShape) };
