import * as z from 'zod';

const name = z.string().min(1).max(128);
const id = z.string().min(1).max(256);
const n = z.int().min(1).max(100_000);
const at = z.int().min(0).exactOptional();
const anything = z.unknown();
const record = z.record(z.string(), z.unknown());
const code = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/);

/** One line of an app's reply, by its type. Unknown fields are ignored. */
export const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), delta: z.string(), at }),
  z.object({ type: z.literal('reasoning'), delta: z.string(), at }),
  z.object({ type: z.literal('data'), id, name: id, value: anything }),
  z.object({ type: z.literal('tool_use'), callId: id, name: id, input: anything }),
  z.object({
    type: z.literal('tool_result'),
    ...{ callId: id, name: id, output: anything, isError: z.boolean().exactOptional() },
  }),
  z.looseObject({
    type: z.literal('usage'),
    id,
    model: z.string().exactOptional(),
    inputTokens: z.number().min(0).exactOptional(),
    outputTokens: z.number().min(0).exactOptional(),
    totalTokens: z.number().min(0).exactOptional(),
    cachedInputTokens: z.number().min(0).exactOptional(),
    reasoningTokens: z.number().min(0).exactOptional(),
    cost: z.number().min(0).exactOptional(),
    currency: z.string().exactOptional(),
  }),
  z.object({ type: z.literal('title'), text: z.string() }),
  z.object({ type: z.literal('annotate'), metadata: record }),
  z.object({
    type: z.literal('step'),
    ...{ n, name, value: z.unknown().optional() },
    error: z.object({ code: code.exactOptional(), message: z.string() }).exactOptional(),
  }),
  z.object({
    type: z.literal('sleep'),
    ...{ n, name, ms: z.number().min(0).exactOptional(), until: z.number().min(0).exactOptional() },
  }),
  z.object({
    type: z.literal('ask'),
    ...{ n, name, payload: z.unknown().optional(), schema: record.exactOptional() },
  }),
  z.object({
    type: z.literal('confirm'),
    ...{ n, name, input: z.unknown().optional(), message: z.string().exactOptional() },
  }),
  z.object({ type: z.literal('tool'), n, name, input: anything }),
  z.object({
    type: z.literal('spawn'),
    ...{ n, app: name, message: z.string().min(1), id: id.exactOptional() },
    ...{ detached: z.boolean().exactOptional(), wakes: z.boolean().exactOptional() },
  }),
  z.object({ type: z.literal('continue') }),
  z.object({ type: z.literal('wait') }),
  z.object({
    type: z.literal('end'),
    stopReason: z.enum(['end', 'max_tokens', 'tool_use']).exactOptional(),
  }),
  z.object({ type: z.literal('error'), code, message: z.string() }),
]);

/** One line of an app's reply. */
export type AppLine = z.infer<typeof lineSchema>;

/** A line that calls the gateway, or a person by it. */
export type CallLine = Extract<AppLine, { readonly type: 'ask' | 'confirm' | 'tool' | 'spawn' }>;

const failure = z.object({ code: z.string(), message: z.string() });
const outcome = { value: z.unknown().optional(), error: failure.exactOptional() };

/** All that an app is told for one slice of a run. */
export const sliceSchema = z.looseObject({
  protocol: z.literal(1),
  id,
  app: z.string(),
  version: z.string().exactOptional(),
  runId: z.string(),
  attempt: z.int().min(1),
  now: z.number(),
  deadlineMs: z.number().min(0),
  session: z.looseObject({
    id: z.string(),
    app: z.string(),
    epoch: z.string(),
    title: z.string().exactOptional(),
  }),
  user: z.union([z.looseObject({ id: z.string() }), z.null()]),
  message: z.looseObject({ id: z.string(), role: z.string(), content: z.array(record) }),
  history: z.array(z.looseObject({ id: z.string(), role: z.string(), content: z.array(record) })),
  earlier: z.int().min(0),
  metadata: record,
  parameters: record,
  trigger: z.union([record, z.null()]),
  traceparent: z.string().exactOptional(),
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string().exactOptional(),
      parameters: record.exactOptional(),
    }),
  ),
  steps: z.array(z.object({ n, type: z.enum(['step', 'sleep']), name, ...outcome })),
  calls: z.array(
    z.object({ n, type: z.enum(['ask', 'confirm', 'tool', 'spawn']), name: z.string(), ...outcome }),
  ),
  said: z.object({ text: z.int().min(0), reasoning: z.int().min(0) }),
  rehearsing: z.boolean().exactOptional(),
});

/** All that an app is told for one slice of a run. */
export type Slice = z.infer<typeof sliceSchema>;
