import * as z from 'zod';

const text = z.string().min(1);

/** Params of `push`. The server checks them closer, with code that pages do not need. */
export const pushShape = {
  add: z.strictObject({ endpoint: text, keys: z.strictObject({ p256dh: text, auth: text }) }).optional(),
  remove: text.optional(),
};

/** Fields of the state of a notice. */
export const noticeStateShape = {
  id: z.string(),
  kind: z.enum(['run_ended', 'input_required', 'schedule_fired', 'taken_over', 'hand_off', 'custom']),
  at: z.number(),
  runId: z.string().exactOptional(),
  title: z.string().exactOptional(),
  target: z.enum(['webhook', 'push', 'deliver']).exactOptional(),
  name: z.string().exactOptional(),
  state: z.enum(['waiting', 'failed', 'told', 'dead', 'gone', 'seen']),
  attempts: z.number().int(),
  changedAt: z.number().exactOptional(),
  nextAt: z.number().exactOptional(),
};
