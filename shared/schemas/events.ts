import * as z from 'zod';
import {
  type Envelope,
  type EventType,
  type GatewayEvent,
  isDelta,
  type LoggedEventData,
  type LoggedEventType,
  type TransientEventData,
  type TransientEventType,
} from '../events.js';
import { anything } from './anything.js';
import { controlMoveShape, handOffShape } from './control.js';
import type { ExactlyEach } from './exactly.js';
import { featureLoggedShapes, featureTransientShapes } from './features.js';
import { grantShape } from './grants.js';
import {
  contentBlockSchema,
  lanePlaceShape,
  messageSchema,
  retractionSchema,
  usageSchema,
} from './messages.js';
import { approvalPolicySchema, sessionStateSchema, voteShape } from './state.js';
import { gapReasonSchema, onBusySchema, sessionStatusSchema, stopReasonSchema } from './words.js';

const count = z.number().int();
const call = { callId: z.string(), name: z.string() };

/** The fields of a subscription's start. */
export const subscriptionInfoShape = {
  epoch: z.string().nullable(),
  first: count,
  head: count,
  resume: z.enum(['new', 'exact', 'gap']),
  next: count,
  cursor: z.string().exactOptional(),
  status: sessionStatusSchema,
  runId: z.string().exactOptional(),
  queued: count,
};

/** Fields of the events that a session logs, by type. */
export const loggedShapes = {
  message_accepted: {
    message: messageSchema,
    preceding: z.array(messageSchema).exactOptional(),
    key: z.string().exactOptional(),
    onBusy: onBusySchema,
    position: count,
    metadata: z.record(z.string(), z.unknown()).exactOptional(),
  },
  message_start: { messageId: z.string(), app: z.string(), version: z.string().exactOptional() },
  content_delta: { delta: z.string(), index: count },
  reasoning_delta: { delta: z.string(), index: count },
  tool_use: {
    ...call,
    input: anything,
    providerExecuted: z.boolean().exactOptional(),
    runsOn: z.literal('client').exactOptional(),
  },
  tool_confirmation_required: {
    ...call,
    input: anything,
    message: z.string().exactOptional(),
    batch: z.string().exactOptional(),
    policy: approvalPolicySchema.exactOptional(),
  },
  tool_confirmation_vote: { ...call, ...voteShape },
  tool_confirmation_escalated: { callId: z.string(), roles: z.array(z.string()) },
  tool_confirmation_result: {
    ...call,
    approved: z.boolean(),
    reason: z.string().exactOptional(),
    input: z.unknown().exactOptional(),
    by: z.string(),
    votes: z.array(z.object(voteShape)).exactOptional(),
    expired: z.literal(true).exactOptional(),
  },
  input_required: {
    ...call,
    payload: z.unknown().exactOptional(),
    schema: z.unknown().exactOptional(),
    batch: z.string().exactOptional(),
  },
  input_result: { ...call, output: anything, by: z.string() },
  tool_progress: {
    callId: z.string(),
    value: z.number(),
    total: z.number().exactOptional(),
    message: z.string().exactOptional(),
  },
  tool_result: { ...call, output: anything, isError: z.boolean() },
  data: { id: z.string(), name: z.string(), value: anything },
  steer: { messageId: z.string(), consumed: z.boolean() },
  run_spawned: {
    ...lanePlaceShape,
    messageId: z.string(),
    app: z.string(),
    version: z.string().exactOptional(),
    message: messageSchema,
    key: z.string().exactOptional(),
    metadata: z.record(z.string(), z.unknown()).exactOptional(),
  },
  run_steered: { message: messageSchema },
  usage_added: { id: z.string().exactOptional(), usage: usageSchema },
  run_error: { code: z.string(), message: z.string() },
  message_end: {
    stopReason: stopReasonSchema,
    intoRunId: z.string().exactOptional(),
    lane: count.exactOptional(),
    parentRunId: z.string().exactOptional(),
    usage: usageSchema.exactOptional(),
    totalUsage: usageSchema.exactOptional(),
    message: messageSchema,
  },
  message_replaced: {
    messageId: z.string(),
    content: z.array(contentBlockSchema),
    retracted: retractionSchema.exactOptional(),
  },
  history_moved: {
    added: z.literal(true).exactOptional(),
    tip: z.string().nullable(),
    messageCount: count,
    by: z.string().exactOptional(),
    messages: z.array(messageSchema).exactOptional(),
    replies: z.array(z.string()).exactOptional(),
  },
  session_updated: {
    title: z.string().nullable().optional(),
    metadata: z.record(z.string(), z.unknown()).nullable().optional(),
    archived: z.boolean().optional(),
    by: z.string().exactOptional(),
  },
  control_moved: controlMoveShape,
  hand_off_requested: handOffShape,
  ...featureLoggedShapes,
  grant_added: { ...grantShape, with: z.enum(['user', 'link']), userId: z.string().exactOptional() },
  grant_removed: { grantId: z.string(), by: z.string(), reason: z.enum(['revoked', 'expired']) },
  channel: { channel: z.string(), event: z.object({ type: z.string(), payload: anything }) },
  custom: { name: z.string(), payload: anything },
  session_closed: { reason: z.string() },
} satisfies Record<LoggedEventType, z.ZodRawShape>;

/** Whether events of this type are kept in a session's log and so have a cursor of their own. */
export function isLoggedType(type: string): type is LoggedEventType {
  return Object.hasOwn(loggedShapes, type);
}

const transientShapes = {
  connected: {
    protocol: count,
    gatewayId: z.string(),
    connectionId: z.string(),
    clientId: z.string(),
    heartbeatMs: z.number(),
    authExpiresAt: z.number().exactOptional(),
    authExpiresInMs: z.number().exactOptional(),
    defaultApp: z.string(),
    user: z.object({ id: z.string(), tenantId: z.string().exactOptional() }),
    sessions: z.record(z.string(), z.object(subscriptionInfoShape)),
  },
  subscribed: subscriptionInfoShape,
  heartbeat: { cursor: z.string().exactOptional() },
  gap: {
    reason: gapReasonSchema,
    requested: z.string().nullable(),
    epoch: z.string().nullable(),
    first: count,
    head: count,
  },
  snapshot: { state: sessionStateSchema },
  hidden: { count },
  auth_expired: { message: z.string() },
  ...featureTransientShapes,
} satisfies Record<TransientEventType, z.ZodRawShape>;

/** Fields of every event of a log, and those that events of a connection may have. */
const common = {
  logged: {
    sessionId: z.string(),
    cursor: z.string(),
    ts: z.number(),
    runId: z.string().exactOptional(),
  },
  transient: {
    sessionId: z.string().exactOptional(),
    cursor: z.string().exactOptional(),
    ts: z.number().exactOptional(),
  },
};

/** The fields that the wire leaves out of a delta if they equal those of the delta before it. */
type RepeatedField = 'sessionId' | 'runId' | 'index';
type OptionalField<T, Key> = { [K in keyof T as K extends Key ? never : K]: T[K] } & {
  [K in keyof T as K extends Key ? K : never]?: T[K];
};

/** The data of an event, beside its type and id on the wire. `EventReader` fills in the fields that it leaves out. */
export type EventData<Type extends EventType> = OptionalField<
  Omit<Extract<GatewayEvent, { type: Type }>, 'type'>,
  'cursor' | (Type extends 'content_delta' | 'reasoning_delta' ? RepeatedField : never)
>;

const { logged, transient } = common satisfies ExactlyEach<
  typeof common,
  { logged: Envelope; transient: Partial<Omit<Envelope, 'runId'>> }
>;
const shapes: Readonly<Record<EventType, z.ZodRawShape>> = Object.fromEntries([
  ...Object.entries(loggedShapes satisfies ExactlyEach<typeof loggedShapes, LoggedEventData>).map(
    ([type, shape]) => [type, { ...logged, ...shape }],
  ),
  ...Object.entries(transientShapes satisfies ExactlyEach<typeof transientShapes, TransientEventData>).map(
    ([type, shape]) => [type, { ...transient, ...shape }],
  ),
]);

function onTheWire(type: string, shape: z.ZodRawShape): z.ZodObject {
  const left = isDelta({ type }) ? ['cursor', 'sessionId', 'index'] : ['cursor'];
  return z.object({
    ...shape,
    ...Object.fromEntries(left.map((field) => [field, (shape[field] as z.ZodType).exactOptional()])),
  });
}

/** Schemas of the data of every event, by type, as the wire carries it. */
export const eventDataSchemas = Object.fromEntries(
  Object.entries(shapes).map(([type, shape]) => [type, onTheWire(type, shape)]),
) as unknown as { readonly [Type in EventType]: z.ZodType<EventData<Type>> };

const events = Object.entries(shapes).map(([type, shape]) => z.object({ type: z.literal(type), ...shape }));

/** Schema of every event, as clients receive it. It drops fields that it does not know. */
export const eventSchema = z.discriminatedUnion(
  'type',
  events as unknown as [z.ZodObject, ...z.ZodObject[]],
) as unknown as z.ZodType<GatewayEvent>;
