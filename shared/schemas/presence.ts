import * as z from 'zod';
import { idSchema } from './words.js';

/** Somebody who has a session open. */
export const presenceMemberSchema = z.object({
  id: z.string(),
  userId: z.string(),
  state: z.enum(['here', 'typing']),
  data: z.unknown().exactOptional(),
});

/** Fields of the event `presence`. */
export const presenceShape = {
  members: z.array(presenceMemberSchema),
  gone: z.array(z.string()).exactOptional(),
  whole: z.literal(true).exactOptional(),
};

/** Params of `presence`, beside the session. */
export const presentShape = {
  connectionId: idSchema,
  state: z.enum(['here', 'typing', 'gone']).optional(),
  data: z.unknown().optional(),
};
