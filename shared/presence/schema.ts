import * as z from 'zod';
import { idSchema, sessionId } from '../values/schema.js';

/** Somebody who has a session open. */
const member = z.object({
  id: z.string(),
  userId: z.string(),
  state: z.enum(['here', 'typing']),
  data: z.unknown().exactOptional(),
});

/** Fields of the events of presence. */
export const presenceEventShapes = {
  presence: {
    members: z.array(member),
    gone: z.array(z.string()).exactOptional(),
    whole: z.literal(true).exactOptional(),
  },
};

/** Params and results of the operations on presence. */
export const presenceOperationSchemas = {
  presence: {
    params: z.strictObject({
      sessionId,
      connectionId: idSchema,
      state: z.enum(['here', 'typing', 'gone']).optional(),
      data: z.unknown().optional(),
    }),
    result: z.object({ id: z.string(), members: z.array(member) }),
  },
};
