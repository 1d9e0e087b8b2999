import { z } from 'zod';
import type { Control } from '../control.js';

const time = z.number();

/** Who has control in the place of the app. */
export const controlSchema: z.ZodType<Control> = z.object({
  by: z.string(),
  since: time,
  until: time.exactOptional(),
  reason: z.string().exactOptional(),
});

/** Fields of the event that control has moved. */
export const controlMoveShape = {
  to: z.string().nullable(),
  by: z.string(),
  reason: z.string().exactOptional(),
  note: z.string().exactOptional(),
  until: time.exactOptional(),
  expired: z.literal(true).exactOptional(),
};

/** Fields of the event that an app asks for a person. */
export const handOffShape = {
  reason: z.string().exactOptional(),
  roles: z.array(z.string()).exactOptional(),
};

/** Params of taking over, beside the session. */
export const takeOverShape = {
  reason: z.string().min(1).optional(),
  untilMs: z.number().int().min(1).max(31_536_000_000, 'a year at most').optional(),
};

/** Params of handing back, beside the session. */
export const handBackShape = { note: z.string().min(1).optional(), answer: z.boolean().optional() };
