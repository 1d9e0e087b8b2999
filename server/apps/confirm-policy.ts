import * as z from 'zod';
import type { ConfirmPolicy } from '../../shared/approvals.js';
import { fieldError } from '../../shared/errors.js';

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

/** Adds what holds between the fields. */
const whole = <Schema extends z.ZodType<ConfirmPolicy>>(schema: Schema): Schema =>
  schema
    .refine(({ expiresInMs, onExpiry }) => onExpiry === undefined || expiresInMs !== undefined, {
      path: ['onExpiry'],
      message: 'needs expiresInMs too',
    })
    .refine(({ expiresInMs = MAX_MS, escalate }) => !escalate || escalate.afterMs < expiresInMs, {
      path: ['escalate', 'afterMs'],
      message: 'must be less than expiresInMs',
    });

const policySchema = whole(z.object(fields));
const confirmSchema = whole(z.strictObject({ ...fields, message: z.string().optional() }));

/** The schema of a policy alone. */
export const policyAlone = whole(z.strictObject(fields));

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
  const { error } = schema.safeParse(policy);
  const [issue] = error?.issues ?? [];
  if (issue) {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    throw fieldError(`${before}${[...issue.path, ...unknown].join('.')}`.replace(/\.$/, ''), issue.message);
  }
}
