import type { StandardSchemaV1 } from '@standard-schema/spec';
import { GatewayError, GuardError } from '../../shared/errors.js';
import type { MethodContext } from '../../shared/method.js';
import { settleWithin } from '../deadline.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { accept, check, type Outcome } from '../schema/validate.js';
import type { MethodEntry } from './flatten.js';

/** How long a guard may take before its silence denies the call. */
export const GUARD_TIMEOUT_MS = 5_000;

/**
 * Decides on a call, in the order roles, schema, guard, and returns the parameters for the handler.
 *
 * @throws GuardError with `guardType` `role` or `custom`. What a guard throws is its `cause` and never its text.
 * @throws GatewayError `INVALID_PARAMS`.
 */
export function admit(entry: MethodEntry, params: unknown, context: MethodContext): MaybePromise<unknown> {
  const { roles, schema, guard } = entry.definition;
  if (roles && !holdsAnyRole(context.user, roles)) {
    throw new GuardError({
      guardType: 'role',
      message: `Calling ${entry.path} takes a role that you do not hold`,
    });
  }
  const input = schema ? validParams(schema, params, `params of ${entry.path}`) : params;
  if (!guard) return input;
  return andThen(input, (valid) => andThen(guardAnswer(entry.path, guard, valid, context), () => valid));
}

/** Whether a user holds one of the roles. Names are compared exactly; roles that are no list are none. */
export function holdsAnyRole(user: MethodContext['user'], roles: readonly string[]): boolean {
  const held: unknown = user?.roles;
  return Array.isArray(held) && roles.some((role) => held.includes(role));
}

function validParams(schema: StandardSchemaV1, params: unknown, what: string): MaybePromise<unknown> {
  const outcome = check(schema, params);
  if (params !== undefined) return andThen(outcome, (known) => accept(known, what));
  // Callers may leave out parameters whose every field is optional, so absent ones are also tried as an empty object.
  return andThen(outcome, (absent) =>
    absent.issues
      ? andThen(check(schema, {}), (empty) => accept(namesFields(empty) ? empty : absent, what))
      : absent.value,
  );
}

function namesFields(outcome: Outcome): boolean {
  return !outcome.issues || outcome.issues.some((issue) => issue.path !== '');
}

type Guard = NonNullable<MethodEntry['definition']['guard']>;

function guardAnswer(
  path: string,
  guard: Guard,
  params: unknown,
  context: MethodContext,
): MaybePromise<void> {
  let answer: unknown;
  try {
    answer = guard(context, params);
  } catch (cause) {
    throw denial(path, cause);
  }
  if (!isPromise(answer)) return requireTrue(path, answer);
  const timely = settleWithin(answer, GUARD_TIMEOUT_MS, () => ({
    error: new GatewayError({ code: 'TIMEOUT' }),
  }));
  return timely.then(
    (value) => requireTrue(path, value),
    (cause: unknown) => {
      throw denial(path, cause);
    },
  );
}

function requireTrue(path: string, answer: unknown): void {
  if (answer !== true) throw denial(path);
}

function denial(path: string, cause?: unknown): GuardError {
  return new GuardError({ guardType: 'custom', message: `The guard of ${path} denied the call`, cause });
}
