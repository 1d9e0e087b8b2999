import * as z from 'zod';
import type { ClientFrame, EventFrame, ServerFrame } from '../frames.js';
import { errorBodySchema, errorBodyShape } from './errors.js';
import type { ExactlyEach } from './exactly.js';
import { subscribeTargetSchema } from './operations.js';

const id = z.string().min(1).max(256);
const version = z.number().int();
const count = z.number().int().min(1);
const timestamp = z.number();
const ping = z.object({ type: z.literal('ping'), timestamp });
const pong = z.object({ type: z.literal('pong'), timestamp });

/** Schemas of the frames that a client writes, by type. */
export const clientFrameSchemas = {
  req: z.object({
    type: z.literal('req'),
    id,
    method: z.string().min(1).max(1024),
    params: z.unknown().optional(),
    window: count.optional(),
    traceparent: z.string().max(256).optional(),
  }),
  connect: z.object({
    type: z.literal('connect'),
    protocol: z.object({ min: version, max: version }),
    token: z.string().optional(),
    subscribe: z.array(subscribeTargetSchema).max(1000).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  more: z.object({ type: z.literal('more'), id, count }),
  cancel: z.object({ type: z.literal('cancel'), id }),
  auth: z.object({ type: z.literal('auth'), token: z.string() }),
  ping,
  pong,
} satisfies Record<ClientFrame['type'], z.ZodObject>;

const { req, connect, more, cancel, auth } = clientFrameSchemas satisfies ExactlyEach<
  typeof clientFrameSchemas,
  { [Type in ClientFrame['type']]: ClientFrame & { type: Type } }
>;

/** Schema of a frame that a client writes to a WebSocket or Unix socket. The params of a request have schemas of their own. */
export const clientFrameSchema: z.ZodType<ClientFrame> = z.discriminatedUnion('type', [
  // Nearly every frame is a request.
  req,
  connect,
  more,
  cancel,
  auth,
  ping,
  pong,
]);

/** Schemas of the frames that a gateway writes, by type. */
export const serverFrameSchemas = {
  res: z.discriminatedUnion('ok', [
    z.object({ type: z.literal('res'), id, ok: z.literal(true), payload: z.unknown().exactOptional() }),
    z.object({ type: z.literal('res'), id, ok: z.literal(false), error: errorBodySchema }),
  ]),
  chunk: z.object({
    type: z.literal('chunk'),
    id,
    data: z.unknown().exactOptional(),
    eventId: z.string().exactOptional(),
  }),
  event: z.object({
    event: z.string(),
    type: z.never().exactOptional(),
    id: z.string().exactOptional(),
    data: z.unknown(),
  }),
  authenticated: z.object({
    type: z.literal('authenticated'),
    authExpiresAt: z.number().exactOptional(),
    authExpiresInMs: z.number().exactOptional(),
  }),
  error: z.object({ type: z.literal('error'), ...errorBodyShape }),
  ping,
  pong,
} satisfies Record<NonNullable<ServerFrame['type']> | 'event', z.ZodType>;

const { res, chunk, event, authenticated, error } = serverFrameSchemas satisfies ExactlyEach<
  typeof serverFrameSchemas,
  { [Type in NonNullable<ServerFrame['type']>]: ServerFrame & { type: Type } } & { event: EventFrame }
>;

/** Schema of a frame that a gateway writes to a WebSocket or Unix socket. The data of events have schemas of their own. */
export const serverFrameSchema: z.ZodType<ServerFrame> = z.union([
  event,
  z.discriminatedUnion('type', [res, chunk, authenticated, error, ping, pong]),
]);
