import * as z from 'zod';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { fieldError, read } from '../conversation/errors.js';

const MOST = 1000;
const amount = z.number().int().min(0).max(MOST);
const record = z.record(z.string(), z.unknown());
const place = z.looseObject({ checkpoint_id: z.string().nullish() });
const page = { limit: amount.optional(), offset: amount.optional() };

/** Bodies of the classic routes, by subject. Clients may send further fields. */
export const BODIES = {
  run: z.looseObject({
    command: z.looseObject({ resume: z.unknown() }).nullish(),
    stream_mode: z.union([z.string(), z.array(z.string())]).nullish(),
    multitask_strategy: z.string().nullish(),
    on_disconnect: z.string().nullish(),
    checkpoint_id: z.string().nullish(),
    checkpoint: place.nullish(),
    config: z.looseObject({ configurable: record.nullish() }).nullish(),
  }),
  thread: z.looseObject({
    thread_id: z.string().nullish(),
    if_exists: z.string().nullish(),
    metadata: record.nullish(),
    supersteps: z
      .array(z.looseObject({ updates: z.array(z.looseObject({ values: record.nullish() })) }))
      .nullish(),
  }),
  threads: z.looseObject({
    metadata: record.nullish(),
    ids: z.array(z.string()).nullish(),
    status: z.string().nullish(),
    ...page,
  }),
  state: z.looseObject({ checkpoint: place.nullish() }),
  update: z.looseObject({
    values: record.nullish(),
    checkpoint: place.nullish(),
    checkpoint_id: z.string().nullish(),
  }),
  history: z.looseObject({
    limit: amount.optional(),
    before: z
      .union([
        z.string(),
        z.looseObject({ checkpoint_id: z.string().nullish(), configurable: place.nullish() }),
      ])
      .nullish(),
    checkpoint: z.looseObject({ checkpoint_ns: z.string().nullish() }).nullish(),
  }),
  assistants: z.looseObject({ graph_id: z.string().nullish(), ...page }),
} as const;

/** The fields of a body of one kind. */
export type BodyOf<Kind extends keyof typeof BODIES> = z.infer<(typeof BODIES)[Kind]>;

/** Reads a body. @throws GatewayError `INVALID_REQUEST`, naming the field */
export async function readBody<Kind extends keyof typeof BODIES>(
  call: PluginRequest,
  kind: Kind,
): Promise<BodyOf<Kind>> {
  return read(BODIES[kind], (await call.body()) ?? {}) as BodyOf<Kind>;
}

/** Reads a number of a query. @throws GatewayError `INVALID_REQUEST` */
export function readAmount(query: URLSearchParams, name: string, fallback: number): number {
  const given = query.get(name);
  const parsed = amount.safeParse(given === null ? fallback : Number(given));
  if (parsed.success) return parsed.data;
  throw fieldError(name, `must be a number from 0 to ${MOST}`);
}
