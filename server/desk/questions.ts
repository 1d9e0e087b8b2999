import * as z from 'zod';
import { USAGE_BY } from '../../shared/budgets/contract.js';
import { day } from '../../shared/budgets/schema.js';
import { GatewayError } from '../../shared/errors.js';

/** The things that a run may wait for. `app`: its own code, and all that it calls. `slot`: its turn among all runs. `gateway`: no living gateway holds its session. */
export const WAITS = [
  'app',
  'person',
  'queue',
  'slot',
  'store',
  'child',
  'time',
  'version',
  'gateway',
] as const;

const text = z.string().min(1).max(1024);
/** The gateway that is meant, by its id or that of one process of it. Without it, reads ask all on the store. */
const gateway = text.exactOptional();
const limit = z.number().int().min(1).max(10_000).exactOptional();
/** A user by id, within a tenant if one is named. */
const user = text.exactOptional();
const tenant = text.exactOptional();
const scope = text.exactOptional();

const QUESTIONS = [
  z.strictObject({ action: z.literal('status'), gateway }),
  z.strictObject({
    ...{ action: z.literal('runs'), gateway, user, tenant, limit },
    waitsFor: z.enum(WAITS).exactOptional(),
    olderMs: z.number().min(0).exactOptional(),
    app: text.exactOptional(),
  }),
  z.strictObject({ action: z.literal('session'), session: text, user, tenant, scope }),
  z.strictObject({
    ...{ action: z.literal('usage'), user, tenant, scope },
    ...{ by: z.array(z.enum(USAGE_BY)).exactOptional(), from: day.exactOptional(), to: day.exactOptional() },
  }),
  z.strictObject({ action: z.literal('connections'), gateway, user, tenant, limit }),
  z.strictObject({ action: z.literal('due') }),
  z.strictObject({ action: z.literal('retry'), id: text }),
  z.strictObject({
    ...{ action: z.literal('abort'), session: text, user, tenant, scope },
    ...{ run: text.exactOptional(), reason: text.exactOptional() },
  }),
  z.strictObject({ action: z.literal('disconnect'), user: text, tenant }),
  z.strictObject({
    ...{ action: z.literal('audit'), limit: z.number().int().min(1).exactOptional() },
    /** Milliseconds since the epoch. */
    since: z.number().min(0).exactOptional(),
  }),
  z.strictObject({ action: z.literal('lame-duck'), gateway, on: z.boolean() }),
] as const;

const question = z.discriminatedUnion('action', QUESTIONS);

/** A question to the operators' desk, or an act there. */
export type DeskQuestion = z.infer<typeof question>;

/** Whose session is meant. */
export type DeskOwner = Pick<Extract<DeskQuestion, { action: 'session' }>, 'user' | 'tenant' | 'scope'>;

/** @throws GatewayError `INVALID_PARAMS` naming each wrong field */
export function readQuestion(value: unknown): DeskQuestion {
  const outcome = question.safeParse(value);
  if (outcome.success) return outcome.data;
  const details = outcome.error.issues.map((issue) => {
    const keys = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path;
    return { path: keys.map(String).join('.'), message: issue.message };
  });
  const message = details.map(({ path, message: said }) => (path ? `${path}: ${said}` : said)).join('; ');
  throw new GatewayError({ code: 'INVALID_PARAMS', message, details });
}

/** @throws GatewayError `INVALID_PARAMS` for what is no JSON, else as `readQuestion` */
export function parseQuestion(body: string): DeskQuestion {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new GatewayError({ code: 'INVALID_PARAMS', message: 'The question is no JSON' });
  }
  return readQuestion(value);
}
