import * as z from 'zod';
import { sessionId } from '../values/schema.js';

const time = z.coerce.number().int().optional();
const place = z.number().int().min(0);

const hit = z.object({
  sessionId: z.string(),
  app: z.string(),
  title: z.string().exactOptional(),
  messageId: z.string(),
  role: z.enum(['user', 'assistant']),
  at: z.number(),
  cursor: z.string(),
  snippet: z.string(),
  marks: z.array(z.tuple([place, place])),
});

/** Params and results of the operations of search. */
export const searchOperationSchemas = {
  search: {
    params: z.strictObject({
      query: z.string().min(1).max(200),
      sessionId: sessionId.optional(),
      app: z.string().max(256).optional(),
      from: time,
      to: time,
      limit: z.coerce.number().int().min(1).max(100).optional(),
      cursor: z.string().max(64).optional(),
    }),
    result: z.object({ hits: z.array(hit), cursor: z.string().nullable() }),
  },
};
