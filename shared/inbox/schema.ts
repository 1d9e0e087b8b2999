import * as z from 'zod';
import { pageLimit, sessionId } from '../values/schema.js';

const count = z.number().int().min(0);
const totals = { unread: count, waiting: count };

const row = z.object({
  sessionId: z.string(),
  app: z.string(),
  title: z.string().exactOptional(),
  ...totals,
  running: z.boolean(),
  ended: z.boolean(),
  changedAt: z.number(),
  readTo: z.string().exactOptional(),
});

const inboxPageShape = {
  sessions: z.array(row),
  ...totals,
  cursor: z.string().nullable(),
  place: z.string(),
};

/** Fields of the events of an inbox. */
export const inboxTransientShapes = {
  inbox: { sessions: z.array(row), ...totals, reset: z.literal(true).exactOptional() },
};

/** Params and results of the operations on an inbox and its read places. */
export const inboxOperationSchemas = {
  read: {
    params: z.strictObject({
      sessionId,
      cursor: z
        .string()
        .regex(/^[A-Za-z0-9_-]{11}\.\d{1,16}\.\d{1,16}$/, 'must be a cursor of a session')
        .optional(),
    }),
    result: z.object({ sessionId, readTo: z.string(), unread: z.number() }),
  },
  inbox: {
    params: z.strictObject({ limit: pageLimit, cursor: z.string().max(128).optional() }),
    result: z.object(inboxPageShape),
  },
};
