import * as z from 'zod';
import type { OperationTypes } from '../operation-types.js';
import type { OperationName } from '../operations.js';
import { idSchema, ok, pageLimit, sessionId } from '../values/schema.js';
import { controlSchema, handBackShape, takeOverShape } from './control.js';
import { eventSchema } from './events.js';
import type { ExactlyEach } from './exactly.js';
import { featureExportSchemas, featureOperationSchemas } from './features.js';
import { grantIdSchema, grantSchema, sharedBySchema, sharingShape } from './grants.js';
import { messageSchema, sendInputSchema, usageSchema } from './messages.js';
import { onBusySchema, sessionStatusSchema, stopReasonSchema } from './words.js';

const from = z.enum(['now', 'run', 'earliest', 'snapshot']);
/** A flag, which a query writes as a word. */
const flag = z
  .preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean())
  .optional();
const metadata = z.record(z.string(), z.unknown());
const userName = z.object({ id: z.string(), tenantId: z.string().exactOptional() });
const none: z.ZodType<Record<never, never>> = z.strictObject({});
const document = z.record(z.string(), z.unknown());

/** Schema of a session to follow. */
export const subscribeTargetSchema = z.strictObject({
  sessionId,
  cursor: z.string().max(256).optional(),
  from: from.optional(),
});

const clientTools = z
  .array(
    z.strictObject({
      name: idSchema,
      description: z.string().optional(),
      parameters: z.record(z.string(), z.unknown()).optional(),
      strict: z.boolean().optional(),
    }),
  )
  .superRefine((tools, { addIssue }) => {
    const names = new Set<string>();
    for (const [index, { name }] of tools.entries()) {
      if (names.has(name))
        addIssue({ code: 'custom', path: [index, 'name'], message: 'another tool has this name' });
      names.add(name);
    }
  });

/** Params of every operation that begins a run. */
const begins = {
  sessionId,
  idempotencyKey: z
    .string()
    .regex(/^[\x21-\x7e]{1,256}$/, '1 to 256 printable ASCII characters')
    .optional(),
  onlyAs: z.strictObject({ id: idSchema, tenantId: z.string().exactOptional() }).optional(),
  metadata: metadata.optional(),
  clientTools: clientTools.optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  toolOutputs: z
    .array(z.strictObject({ name: idSchema, input: z.unknown().optional(), output: z.unknown() }))
    .optional(),
};

const send = z
  .strictObject({
    ...begins,
    message: sendInputSchema.optional(),
    messages: z.array(sendInputSchema).min(1).max(1000).optional(),
    onBusy: onBusySchema.optional(),
    lane: z.literal('new').optional(),
    keep: z.boolean().optional(),
    parent: idSchema.nullable().optional(),
    replaces: idSchema.optional(),
  })
  .refine((params) => params.parent === undefined || params.replaces === undefined, {
    path: ['replaces'],
    message: 'give either parent or replaces',
  })
  .refine(
    ({ lane, parent, replaces, onBusy }) =>
      lane === undefined || (parent === undefined && replaces === undefined && onBusy === undefined),
    { path: ['lane'], message: 'cannot be used with parent, replaces or onBusy' },
  )
  .refine(({ lane, messages }) => lane === undefined || (messages?.length ?? 1) === 1, {
    path: ['messages'],
    message: 'must have one message in a lane of its own',
  })
  .refine(({ lane, keep }) => keep === undefined || lane !== undefined, {
    path: ['keep'],
    message: 'needs lane beside it',
  })
  .refine((params) => (params.message === undefined) !== (params.messages === undefined), {
    path: ['message'],
    message: 'give either message or messages',
  });

/** Schema of the outcome of a run. */
export const runResultSchema = z.object({
  runId: z.string(),
  message: messageSchema,
  stopReason: stopReasonSchema,
  intoRunId: z.string().optional(),
  usage: usageSchema.optional(),
  totalUsage: usageSchema.optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  cursor: z.string(),
});

/** Schema of the answer to an accepted message. */
export const acceptedSchema = z.object({
  runId: z.string(),
  message: messageSchema,
  position: z.number().int(),
  cursor: z.string(),
});

const move = z
  .strictObject({ sessionId, tip: idSchema.nullable().optional(), version: idSchema.optional() })
  .refine(({ tip, version }) => (tip === undefined) !== (version === undefined), {
    path: ['tip'],
    message: 'give either tip or version',
  });

const startedRun = z.union([runResultSchema, acceptedSchema]);
const place = { tip: z.string().nullable(), cursor: z.string() };

const payloads = z
  .array(z.object({ name: z.string(), payload: z.unknown(), problem: z.string().optional() }))
  .optional();

/** The kinds of exports. */
const exported = [
  ...(['messages', 'events'] as const),
  ...(Object.keys(featureExportSchemas) as (keyof typeof featureExportSchemas)[]),
] as const;

const schemas = {
  send: { params: send, result: startedRun },
  regenerate: {
    params: z.strictObject({ ...begins, messageId: idSchema.optional() }),
    result: startedRun,
  },
  append: {
    params: z.strictObject({ sessionId, messages: z.array(sendInputSchema).min(1).max(1000) }),
    result: z.object({ messages: z.array(messageSchema), ...place }),
  },
  move: {
    params: move,
    result: z.object(place),
  },
  fork: {
    params: z.strictObject({ sessionId, to: sessionId, at: idSchema.optional() }),
    result: z.object({ sessionId, ...place }),
  },
  delete: { params: z.strictObject({ sessionId }), result: ok },
  import: {
    params: z
      .strictObject({
        sessionId,
        messages: z.array(z.unknown()),
        format: z.enum(['messages', 'ui', 'openai']).optional(),
        title: z.string().min(1).optional(),
        metadata: metadata.optional(),
      })
      .refine((given) => given.messages.length > 0 || given.title !== undefined || given.metadata, {
        path: ['messages'],
        message: 'must not be empty where there is neither a title nor metadata',
      }),
    result: z.object({ sessionId, ...place }),
  },
  export: {
    params: z.strictObject({ sessionId, what: z.enum(exported).optional() }),
    result: z.union([messageSchema, eventSchema, ...Object.values(featureExportSchemas)]),
  },
  invoke: {
    params: z.strictObject({
      method: z.string().min(1).max(1024),
      params: z.unknown().optional(),
      sessionId: sessionId.optional(),
      lastEventId: z
        .string()
        .regex(/^[\x21-\x7e]{1,1024}$/, '1 to 1024 printable ASCII characters')
        .optional(),
    }),
    result: z.unknown(),
  },
  subscribe: {
    params: z.strictObject({
      connectionId: idSchema,
      sessionId: sessionId.optional(),
      add: z
        .array(z.union([sessionId, subscribeTargetSchema]))
        .max(1000)
        .optional(),
      remove: z.array(sessionId).max(1000).optional(),
    }),
    result: z.object({ subscriptions: z.array(z.string()) }),
  },
  update: {
    params: z.strictObject({
      sessionId,
      title: z.string().min(1).nullable().optional(),
      metadata: metadata.nullable().optional(),
      archived: z.boolean().optional(),
    }),
    result: ok,
  },
  ...featureOperationSchemas,
  share: {
    params: z.strictObject({ sessionId, ...sharingShape }),
    result: z.object({
      grant: grantSchema,
      token: z.string().optional(),
      url: z.string().optional(),
    }),
  },
  unshare: { params: z.strictObject({ sessionId, grantId: grantIdSchema }), result: ok },
  grants: { params: z.strictObject({ sessionId }), result: z.object({ grants: z.array(grantSchema) }) },
  'take-over': {
    params: z.strictObject({ sessionId, ...takeOverShape }),
    result: z.object({ control: controlSchema }),
  },
  'hand-back': {
    params: z.strictObject({ sessionId, ...handBackShape }),
    result: z.object({ runId: z.string().optional() }),
  },
  abort: {
    params: z.strictObject({
      sessionId,
      runId: idSchema.optional(),
      reason: z.string().max(1024).optional(),
    }),
    result: z.object({ aborted: z.boolean() }),
  },
  steer: {
    params: z.strictObject({ sessionId, runId: idSchema, message: sendInputSchema }),
    result: z.object({ messageId: z.string() }),
  },
  close: { params: z.strictObject({ sessionId }), result: ok },
  'tool-response': {
    params: z.strictObject({
      sessionId,
      callId: idSchema,
      approved: z.boolean().optional(),
      reason: z.string().max(4096).optional(),
      input: z.unknown().optional(),
      inputHash: z.string().max(128).optional(),
      output: z.unknown().optional(),
    }),
    result: ok,
  },
  channel: {
    params: z.strictObject({
      sessionId,
      channel: z.string().regex(/^[A-Za-z0-9_.:@+-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 _ . : @ + -'),
      type: z
        .string()
        .regex(/^[A-Za-z0-9_.:@+-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 _ . : @ + -')
        .optional(),
      payload: z.unknown().optional(),
    }),
    result: ok,
  },
  ticket: { params: none, result: z.object({ ticket: z.string(), expiresAt: z.number() }) },
  history: {
    params: z.strictObject({ sessionId, limit: pageLimit, before: z.string().max(300).optional() }),
    result: z.object({
      messages: z.array(messageSchema),
      cursor: z.string().nullable(),
      hasMore: z.boolean(),
    }),
  },
  sessions: {
    params: z.strictObject({
      limit: pageLimit,
      before: z.string().max(512).optional(),
      archived: flag,
      status: sessionStatusSchema.optional(),
      failed: flag,
      query: z.string().max(1024).optional(),
      app: z.string().max(128).optional(),
      shared: flag,
      all: flag,
    }),
    result: z.object({
      sessions: z.array(
        z.object({
          sessionId,
          app: z.string(),
          status: sessionStatusSchema,
          title: z.string().optional(),
          preview: z.string().optional(),
          messageCount: z.number(),
          pending: z.number(),
          failed: z.literal(true).optional(),
          archived: z.boolean(),
          metadata: metadata.optional(),
          forkedFrom: z.object({ sessionId, messageId: idSchema.nullable() }).optional(),
          sharedBy: sharedBySchema.optional(),
          owner: userName.optional(),
          createdAt: z.number(),
          updatedAt: z.number(),
        }),
      ),
      cursor: z.string().nullable(),
    }),
  },
  apps: {
    params: none,
    result: z.object({
      apps: z.array(
        z.object({
          name: z.string(),
          description: z.string().optional(),
          isDefault: z.boolean(),
          suggestions: z.array(z.object({ text: z.string(), shows: z.string().optional() })).optional(),
          tools: z.array(
            z.object({
              name: z.string(),
              description: z.string().optional(),
              input: z.unknown().optional(),
              problem: z.string().optional(),
            }),
          ),
          data: payloads,
          questions: payloads,
        }),
      ),
    }),
  },
  status: {
    params: z.strictObject({ sessionId: sessionId.optional() }),
    result: z.union([
      z.object({
        sessionId,
        app: z.string(),
        status: sessionStatusSchema,
        runId: z.string().optional(),
        queued: z.number(),
        epoch: z.string(),
        first: z.number(),
        head: z.number(),
        cursor: z.string(),
      }),
      z.object({
        gatewayId: z.string(),
        protocol: z.object({ min: z.number(), max: z.number() }),
        draining: z.boolean(),
        user: userName.nullable(),
        oversees: z.literal(true).optional(),
      }),
    ]),
  },
  run: {
    params: z.strictObject({ sessionId, runId: z.string().min(1).max(128) }),
    result: z.object({
      runId: z.string(),
      sessionId,
      state: z.enum(['queued', 'running', 'waiting', 'ended']),
      cursor: z.string(),
      result: runResultSchema.optional(),
    }),
  },
  methods: {
    params: none,
    result: z.object({
      version: z.number(),
      methods: z.array(
        z.object({
          path: z.string(),
          description: z.string().optional(),
          roles: z.array(z.string()).optional(),
          stream: z.boolean(),
          params: z.unknown(),
          paramsOptional: z.boolean().optional(),
          result: z.unknown(),
          problem: z.string().optional(),
        }),
      ),
      channels: payloads,
      events: payloads,
    }),
  },
  openapi: { params: none, result: document },
} satisfies Record<OperationName, z.ZodRawShape>;

type Schemas = {
  readonly [Name in OperationName]: {
    readonly params: z.ZodType<OperationTypes[Name]['params']>;
    readonly result: z.ZodType<OperationTypes[Name]['result']>;
  };
};

/** Schemas of the params and results of every operation. Params are closed: a field that would be lost is refused by its name. */
export const operationSchemas: Schemas = schemas satisfies {
  [Name in OperationName]: ExactlyEach<(typeof schemas)[Name], OperationTypes[Name]>;
};
