import * as z from 'zod';

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

/** Name of a schedule in a request. */
export const scheduleId = id;

/** Params of `schedule`, beside the session. */
export const schedulingShape = {
  id: id.optional(),
  message: z.string().min(1),
  at: z.number().int().optional(),
  every: z.union([z.string().min(1).max(256), z.strictObject({ ms: z.number().int() })]).optional(),
  zone: z.string().min(1).max(64).optional(),
  missed: missed.optional(),
};
