import * as z from 'zod';
import { idSchema } from './words.js';

/** A reaction as a message has it. */
export const reactionSchema = z.object({
  by: z.string(),
  value: z.string(),
  comment: z.string().exactOptional(),
  at: z.number(),
});

/** Fields of the event `reaction`. */
export const reactionShape = {
  messageId: z.string(),
  by: z.string(),
  value: z.string().nullable(),
  comment: z.string().exactOptional(),
};

/** Params of `react`, beside the session. */
export const reactShape = {
  messageId: idSchema,
  value: z.string().min(1).max(32).nullable(),
  comment: z.string().min(1).optional(),
};
