import * as z from 'zod';
import { idSchema, ok, sessionId } from '../values/schema.js';

/** A reaction as a message has it. */
export const reactionSchema = z.object({
  by: z.string(),
  value: z.string(),
  comment: z.string().exactOptional(),
  at: z.number(),
});

/** Fields of the events of reactions. */
export const reactionEventShapes = {
  reaction: {
    messageId: z.string(),
    by: z.string(),
    value: z.string().nullable(),
    comment: z.string().exactOptional(),
  },
};

/** Params and results of the operations on reactions. */
export const reactionOperationSchemas = {
  react: {
    params: z.strictObject({
      sessionId,
      messageId: idSchema,
      value: z.string().min(1).max(32).nullable(),
      comment: z.string().min(1).optional(),
    }),
    result: ok,
  },
};
