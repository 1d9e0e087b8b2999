import * as z from 'zod';
import { heldRunShape } from '../deploys/schema.js';
import type { SessionState } from '../fold.js';
import { variantsSchema } from '../variants/schema.js';
import { controlSchema, handOffShape } from './control.js';
import type { Exactly } from './exactly.js';
import { lanePlaceShape, messageSchema, toldShape, usageSchema } from './messages.js';
import { onBusySchema, stopReasonSchema } from './words.js';

const toolProgress = z.object({
  value: z.number(),
  total: z.number().exactOptional(),
  message: z.string().exactOptional(),
});

const activeRunShape = {
  runId: z.string(),
  app: z.string(),
  version: z.string().exactOptional(),
  held: z.object(heldRunShape).nullable().exactOptional(),
  message: messageSchema,
  usage: usageSchema.exactOptional(),
  error: z.object({ code: z.string(), message: z.string() }).exactOptional(),
  progress: z.record(z.string(), toolProgress).exactOptional(),
};

/** A run beside the conversation. */
export const laneRunSchema = z.object({
  ...activeRunShape,
  ...lanePlaceShape,
  ...toldShape,
  stopReason: stopReasonSchema.exactOptional(),
  totalUsage: usageSchema.exactOptional(),
  endedAt: z.number().exactOptional(),
});

/** The policy of a question: its voters, the approvals that it needs, and its end. */
export const approvalPolicySchema = z.object({
  roles: z.array(z.string()).exactOptional(),
  approvals: z.number().int(),
  notBy: z.literal('sender').exactOptional(),
  guests: z.literal(true).exactOptional(),
  expiresAt: z.number().exactOptional(),
  onExpiry: z.enum(['deny', 'approve', 'abort']).exactOptional(),
  escalateAt: z.number().exactOptional(),
  escalateRoles: z.array(z.string()).exactOptional(),
  inputHash: z.string(),
});

/** The fields of a vote. */
export const voteShape = {
  by: z.string(),
  approved: z.boolean(),
  reason: z.string().exactOptional(),
  givenBy: z.string().exactOptional(),
};

const pendingQuestion = z.object({
  callId: z.string(),
  runId: z.string().exactOptional(),
  kind: z.enum(['confirmation', 'input']),
  name: z.string(),
  input: z.unknown().exactOptional(),
  schema: z.unknown().exactOptional(),
  message: z.string().exactOptional(),
  policy: approvalPolicySchema.exactOptional(),
  votes: z.array(z.object(voteShape)).exactOptional(),
  escalated: z.literal(true).exactOptional(),
});

const queuedMessage = z.object({
  runId: z.string(),
  message: messageSchema,
  preceding: z.array(messageSchema).exactOptional(),
  onBusy: onBusySchema,
});

const sessionState = z.object({
  cursor: z.string().nullable(),
  messages: z.array(messageSchema),
  hasMore: z.boolean(),
  messageCount: z.number(),
  tip: z.string().nullable(),
  replies: z.array(z.string()).exactOptional(),
  run: z.object(activeRunShape).nullable(),
  lanes: z.array(laneRunSchema).exactOptional(),
  pending: z.array(pendingQuestion),
  queue: z.array(queuedMessage),
  closed: z.boolean(),
  title: z.string().exactOptional(),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
  archived: z.boolean().exactOptional(),
  variants: variantsSchema.exactOptional(),
  control: controlSchema.exactOptional(),
  handOff: z.object({ ...handOffShape, runId: z.string(), ts: z.number() }).exactOptional(),
});

/** A session, folded from its events. */
export const sessionStateSchema: z.ZodType<SessionState> = sessionState satisfies Exactly<
  typeof sessionState,
  SessionState
>;
