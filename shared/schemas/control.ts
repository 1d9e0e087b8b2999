import * as z from 'zod';

const time = z.number();

/** A person who has control in place of the app. */
export const controlSchema = z.object({
  by: z.string(),
  since: time,
  until: time.exactOptional(),
  reason: z.string().exactOptional(),
  grantId: z.string().exactOptional(),
});

/** Fields of the event `control_moved`. */
export const controlMoveShape = {
  to: z.string().nullable(),
  by: z.string(),
  reason: z.string().exactOptional(),
  note: z.string().exactOptional(),
  until: time.exactOptional(),
  expired: z.literal(true).exactOptional(),
  forced: z.literal(true).exactOptional(),
  grantId: z.string().exactOptional(),
};

/** Fields of the event `hand_off_requested`. */
export const handOffShape = {
  reason: z.string().exactOptional(),
  roles: z.array(z.string()).exactOptional(),
};

/** Params of `take-over`, beside the session. */
export const takeOverShape = {
  reason: z.string().min(1).optional(),
  untilMs: z.number().int().min(1).max(31_536_000_000, 'a year at most').optional(),
};

/** Params of `hand-back`, beside the session. */
export const handBackShape = { note: z.string().min(1).optional(), answer: z.boolean().optional() };
