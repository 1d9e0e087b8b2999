import type { StandardSchemaV1 } from '@standard-schema/spec';
import { cut } from '../../shared/cut.js';
import { GatewayError } from '../../shared/errors.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { type Issue, validateJsonSchema } from './plain-json-schema.js';
import { type AnySchema, isPlainObject, isStandardSchema, type SchemaOutput } from './schema.js';

// A caller can cause as many faults as the body has bytes, and some libraries quote its keys.
const MAX_ISSUES = 32;
const MAX_TEXT = 512;

/**
 * Validates a value and returns the schema's output, with defaults and transforms applied. Synchronous if the schema is.
 *
 * @param what Name of the value in the error, such as 'params of tasks:create'.
 * @throws GatewayError `INVALID_PARAMS` with `details: { path, message }[]`, paths relative to the value (`tags.0`);
 *   `INVALID_REQUEST` for a schema of an unknown kind. Errors of the schema's own code pass through.
 */
export function validate<Schema extends AnySchema>(
  schema: Schema,
  value: unknown,
  what: string,
): MaybePromise<SchemaOutput<Schema>> {
  const outcome = check(schema, value);
  return (
    outcome instanceof Promise ? outcome.then((late) => accept(late, what)) : accept(outcome, what)
  ) as MaybePromise<SchemaOutput<Schema>>;
}

/** The result of a check: the schema's output, or the faults. */
export type Validation =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** Like `validate`, but returns the issues instead of throwing them. */
export function check(schema: AnySchema, value: unknown): MaybePromise<Validation> {
  if (isStandardSchema(schema)) {
    const result = schema['~standard'].validate(value);
    return isPromise(result) ? Promise.resolve(result).then(outcomeOf) : outcomeOf(result);
  }
  if (isPlainObject(schema)) return validateJsonSchema(schema, value);
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message:
      'A schema must be a Standard Schema (zod 3.24 or later, valibot, …) or a plain JSON Schema object',
  });
}

/** Returns the value, or throws the issues as one `INVALID_PARAMS`. */
export function accept(outcome: Validation, what: string): unknown {
  if (!outcome.issues) return outcome.value;
  const details = outcome.issues.slice(0, MAX_ISSUES).map((issue) => ({
    path: cut(issue.path, MAX_TEXT),
    message: cut(issue.message, MAX_TEXT),
  }));
  const first = details[0];
  const reason =
    first === undefined ? 'invalid' : first.path === '' ? first.message : `${first.path}: ${first.message}`;
  throw new GatewayError({ code: 'INVALID_PARAMS', message: `Invalid ${what}: ${reason}`, details });
}

function outcomeOf(result: StandardSchemaV1.Result<unknown>): Validation {
  return result.issues ? { issues: issuesOf(result) } : result;
}

/** The faults of a value, one by one. */
export function issuesOf({
  issues,
}: {
  readonly issues: readonly StandardSchemaV1.Issue[];
}): readonly Issue[] {
  return issues.flatMap((issue) => faultsOf(issue, []));
}

/** An issue of zod, with fields beyond the standard. */
interface ZodIssue extends StandardSchemaV1.Issue {
  readonly code?: unknown;
  readonly keys?: unknown;
  readonly errors?: unknown;
}

/** Faults with the path of the field itself. Zod names unknown fields only in its text, and for a union reports only that it failed. */
function faultsOf(issue: ZodIssue, above: readonly PropertyKey[]): readonly Issue[] {
  const { code, keys, errors, message } = issue;
  const path = [...above, ...(issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))];
  if (code === 'unrecognized_keys' && Array.isArray(keys)) {
    return keys.map((key) => ({ path: [...path, key].map(String).join('.'), message: 'unknown field' }));
  }
  if (code === 'invalid_union' && Array.isArray(errors)) {
    const meant = (errors as ZodIssue[][]).filter((branch) => !branch.some(isOtherType));
    if (meant.length === 1) return meant[0]!.flatMap((inner) => faultsOf(inner, path));
  }
  return [{ path: path.map(String).join('.'), message }];
}

/** Whether a branch of a union is for values of another type, and thus not the intended one. */
function isOtherType({ code, path }: ZodIssue): boolean {
  return code === 'invalid_type' && (path ?? []).length === 0;
}
