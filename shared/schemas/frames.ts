import { z } from 'zod';
import type { ClientFrame } from '../frames.js';
import { subscribeTargetSchema } from './operations.js';

const id = z.string().min(1).max(256);
const version = z.number().int();
const timestamp = z.number();

/** Schema of what a client writes to a WebSocket or Unix socket. The params of a request have schemas of their own. */
export const clientFrameSchema: z.ZodType<ClientFrame> = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('req'),
    id,
    method: z.string().min(1).max(1024),
    params: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('connect'),
    protocol: z.object({ min: version, max: version }),
    token: z.string().optional(),
    subscribe: z.array(subscribeTargetSchema).max(1000).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({ type: z.literal('cancel'), id }),
  z.object({ type: z.literal('auth'), token: z.string() }),
  z.object({ type: z.literal('ping'), timestamp }),
  z.object({ type: z.literal('pong'), timestamp }),
]);
