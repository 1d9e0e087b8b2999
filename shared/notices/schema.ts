import * as z from 'zod';
import { FEATURE_CAUSES } from '../feature-events.js';
import { sessionId } from '../values/schema.js';

const text = z.string().min(1);

/** Params of `push`. The server checks them closer, with code that pages do not need. */
const pushShape = {
  add: z.strictObject({ endpoint: text, keys: z.strictObject({ p256dh: text, auth: text }) }).optional(),
  remove: text.optional(),
};

const noticeStateShape = {
  id: z.string(),
  kind: z.enum(['run_ended', 'input_required', ...FEATURE_CAUSES, 'taken_over', 'hand_off', 'custom']),
  at: z.number(),
  runId: z.string().exactOptional(),
  title: z.string().exactOptional(),
  target: z.enum(['webhook', 'push', 'deliver', 'run-webhook']).exactOptional(),
  name: z.string().exactOptional(),
  state: z.enum(['waiting', 'failed', 'told', 'dead', 'gone', 'seen']),
  attempts: z.number().int(),
  changedAt: z.number().exactOptional(),
  nextAt: z.number().exactOptional(),
};

/** Params and results of the operations on notices and pushes. */
export const noticeOperationSchemas = {
  notices: {
    params: z.strictObject({ sessionId }),
    result: z.object({ notices: z.array(z.object(noticeStateShape)) }),
  },
  push: {
    params: z.strictObject(pushShape),
    result: z.object({ publicKey: z.string().nullable(), subscriptions: z.number() }),
  },
};
