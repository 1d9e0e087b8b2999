import { z } from 'zod';

const text = z.string().min(1);

/** Params of `push`. The server checks them closer, with code that pages do not need. */
export const pushShape = {
  add: z.strictObject({ endpoint: text, keys: z.strictObject({ p256dh: text, auth: text }) }).optional(),
  remove: text.optional(),
};
