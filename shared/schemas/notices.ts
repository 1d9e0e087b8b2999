import { z } from 'zod';

const text = z.string().min(1);

/** Params of `push`. The server looks closer at them: pages have no use for that. */
export const pushShape = {
  add: z.strictObject({ endpoint: text, keys: z.strictObject({ p256dh: text, auth: text }) }).optional(),
  remove: text.optional(),
};
