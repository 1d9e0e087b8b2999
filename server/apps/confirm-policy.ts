import * as z from 'zod';
import type { OnExpiry } from '../../shared/approvals.js';
import { fieldError } from '../../shared/errors.js';

/** The people who may decide a confirmation, the number of approvals, and the time limit. Without a policy, one answer of anybody decides. */
export interface ConfirmPolicy {
  /** Only users with one of these roles may vote. @default everybody who reaches the session */
  readonly roles?: readonly string[] | undefined;
  /** Number of approvals needed, up to 16. One denial denies. @default 1 */
  readonly approvals?: number | undefined;
  /** Excludes the sender of the message that is being answered. */
  readonly notBy?: 'sender' | undefined;
  /** Whether guests of share links may vote, each as the person who gave the link. @default false */
  readonly guests?: boolean | undefined;
  /** Time in milliseconds after which the question is decided without people. @default never */
  readonly expiresInMs?: number | undefined;
  /** The decision after that time; `abort` ends the run. @default 'deny' */
  readonly onExpiry?: OnExpiry | undefined;
  /** Roles that may vote too after a time in milliseconds. */
  readonly escalate?: { readonly afterMs: number; readonly roles: readonly string[] } | undefined;
}

/** The value of a tool's `confirm`: whether to ask, or the policy by which to ask. */
export type Confirm = boolean | (ConfirmPolicy & { readonly message?: string | undefined });

const MAX_APPROVALS = 16;
/** A hundred years, so that every due time is a valid date. */
const MAX_MS = 100 * 365 * 86_400_000;

const roles = z.array(z.string().min(1).max(128)).min(1).max(64);
const time = z.number().positive().max(MAX_MS);
const fields = {
  roles: roles.optional(),
  approvals: z.number().int().min(1).max(MAX_APPROVALS).optional(),
  notBy: z.literal('sender').optional(),
  guests: z.boolean().optional(),
  expiresInMs: time.optional(),
  onExpiry: z.enum(['deny', 'approve', 'abort']).optional(),
  escalate: z.strictObject({ afterMs: time, roles }).optional(),
};
const policySchema = z.object(fields);
const confirmSchema = z.strictObject({ ...fields, message: z.string().optional() });

/** Whether any field of a policy is set. */
export function hasPolicy(given: ConfirmPolicy): boolean {
  return Object.keys(fields).some((name) => given[name as keyof ConfirmPolicy] !== undefined);
}

/** @param path Path of the fields, for the error. @throws GatewayError `INVALID_PARAMS` that names the wrong field */
export function checkConfirm(confirm: Confirm, path: string): void {
  if (typeof confirm !== 'boolean') check(confirmSchema, confirm, `${path}.`);
}

/** Checks the policy of a question that has other fields beside it. @throws GatewayError `INVALID_PARAMS` */
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
    throw fieldError(`${before}onExpiry`, 'needs expiresInMs too');
  if (escalate && expiresInMs !== undefined && escalate.afterMs >= expiresInMs)
    throw fieldError(`${before}escalate.afterMs`, 'must be less than expiresInMs');
}
