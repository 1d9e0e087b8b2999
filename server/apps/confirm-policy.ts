import { z } from 'zod';
import type { OnExpiry } from '../../shared/approvals.js';
import { fieldError } from '../../shared/errors.js';

/** Who may decide a confirmation, how many of them have to, and until when. Without any of it, anybody's one answer decides. */
export interface ConfirmPolicy {
  /** Whoever holds one of these roles may vote. @default everybody who reaches the session */
  readonly roles?: readonly string[] | undefined;
  /** How many people have to approve, up to 16. One denial denies. @default 1 */
  readonly approvals?: number | undefined;
  /** Whoever sent the message that is being answered has no vote. */
  readonly notBy?: 'sender' | undefined;
  /** It is decided without them after so many milliseconds. @default never */
  readonly expiresInMs?: number | undefined;
  /** What comes then: `abort` ends the run. @default 'deny' */
  readonly onExpiry?: OnExpiry | undefined;
  /** After so many milliseconds these roles may vote too. */
  readonly escalate?: { readonly afterMs: number; readonly roles: readonly string[] } | undefined;
}

/** What a tool's `confirm` may be: whether it asks, or what it asks by. */
export type Confirm = boolean | (ConfirmPolicy & { readonly message?: string | undefined });

const MAX_APPROVALS = 16;
/** A hundred years: what is due then has a date. */
const MAX_MS = 100 * 365 * 86_400_000;

const roles = z.array(z.string().min(1).max(128)).min(1).max(64);
const time = z.number().positive().max(MAX_MS);
const fields = {
  roles: roles.optional(),
  approvals: z.number().int().min(1).max(MAX_APPROVALS).optional(),
  notBy: z.literal('sender').optional(),
  expiresInMs: time.optional(),
  onExpiry: z.enum(['deny', 'approve', 'abort']).optional(),
  escalate: z.strictObject({ afterMs: time, roles }).optional(),
};
const policySchema = z.object(fields);
const confirmSchema = z.strictObject({ ...fields, message: z.string().optional() });

/** Whether any of a policy is said. */
export function hasPolicy(given: ConfirmPolicy): boolean {
  return Object.keys(fields).some((name) => given[name as keyof ConfirmPolicy] !== undefined);
}

/** @param path What the fields are those of. @throws GatewayError `INVALID_PARAMS` that names the field which is wrong */
export function checkConfirm(confirm: Confirm, path: string): void {
  if (typeof confirm !== 'boolean') check(confirmSchema, confirm, `${path}.`);
}

/** The same for what a question of another kind says beside the policy. @throws GatewayError `INVALID_PARAMS` */
export function checkPolicy(policy: ConfirmPolicy): void {
  check(policySchema, policy, '');
}

function check(schema: z.ZodType<ConfirmPolicy>, policy: ConfirmPolicy, before: string): void {
  const { error, data } = schema.safeParse(policy);
  const [issue] = error?.issues ?? [];
  if (issue) {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    throw fieldError(`${before}${[...issue.path, ...unknown].join('.')}`.replace(/\.$/, ''), issue.message);
  }
  const { expiresInMs, onExpiry, escalate } = data!;
  if (onExpiry !== undefined && expiresInMs === undefined)
    throw fieldError(`${before}onExpiry`, 'it takes expiresInMs');
  if (escalate && expiresInMs !== undefined && escalate.afterMs >= expiresInMs)
    throw fieldError(`${before}escalate.afterMs`, 'it has to come before expiresInMs');
}
