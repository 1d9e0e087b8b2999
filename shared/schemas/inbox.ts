import * as z from 'zod';

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

/** Fields of a page of an inbox. */
export const inboxPageShape = {
  sessions: z.array(row),
  ...totals,
  cursor: z.string().nullable(),
  place: z.string(),
};

/** Fields of a change of an inbox. */
export const inboxChangeShape = { sessions: z.array(row), ...totals, reset: z.literal(true).exactOptional() };
