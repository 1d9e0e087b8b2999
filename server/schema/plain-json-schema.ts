import { dereference, type SchemaDraft, Validator } from '@cfworker/json-schema';
import { GatewayError } from '../../shared/errors.js';
import type { JsonSchema } from './schema.js';

/** One reason why a value is invalid. `path` is relative to the value: `tags.0`, or empty for the value itself. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

type Fault = ReturnType<Validator['validate']>['errors'][number];

const validators = new WeakMap<JsonSchema, Validator>();

/**
 * Validates with a plain JSON Schema by interpretation, without generated code. Stops at the first fault, so that a hostile value cannot
 * produce a long list.
 *
 * @throws GatewayError `INTERNAL` for an unusable schema (an unknown `$ref`, an invalid pattern).
 */
export function validateJsonSchema(schema: JsonSchema, value: unknown): Verdict {
  if (value === undefined) return { issues: [{ path: '', message: 'A value is required' }] };
  const validator = validatorOf(schema);
  try {
    return judge(validator, value);
  } catch {
    // The validator refuses `undefined` and functions, which host code passes for absent properties. Check the wire form instead.
    return judgeWireForm(validator, value);
  }
}

/** The first reference that leads to nothing in its schema, which is written to. Null if there is none. */
export function missingReference(schema: JsonSchema): string | null {
  const known = dereference(schema as object);
  for (const inner of Object.values(known)) {
    if (typeof inner !== 'object' || inner.$ref === undefined) continue;
    if (known[inner.__absolute_ref__ ?? inner.$ref] === undefined) return inner.$ref;
  }
  return null;
}

type Verdict = { readonly value: unknown } | { readonly issues: readonly Issue[] };

function judge(validator: Validator, value: unknown): Verdict {
  const result = validator.validate(value as object | null);
  return result.valid ? { value } : { issues: innermost(result.errors) };
}

function judgeWireForm(validator: Validator, value: unknown): Verdict {
  const text = JSON.stringify(value);
  try {
    return judge(validator, text === undefined ? null : JSON.parse(text));
  } catch (cause) {
    // The validator writes property names into pointers, and half a surrogate pair has no URI form (RFC 3986).
    if (cause instanceof URIError) {
      return { issues: [{ path: '', message: 'A property name is not valid Unicode' }] };
    }
    throw unusable(cause);
  }
}

function validatorOf(schema: JsonSchema): Validator {
  let validator = validators.get(schema);
  if (!validator) {
    try {
      // A copy: the validator writes into its schema, which may be frozen.
      const own = JSON.parse(JSON.stringify(schema)) as JsonSchema;
      validator = new Validator(own, draftOf(schema), true);
    } catch (cause) {
      throw unusable(cause);
    }
    validators.set(schema, validator);
  }
  return validator;
}

function unusable(cause: unknown): GatewayError {
  return new GatewayError({ code: 'INTERNAL', message: 'A JSON Schema cannot be used to validate', cause });
}

function draftOf(schema: JsonSchema): SchemaDraft {
  const draft = /draft-0?([47])\b|2019-09/.exec(String(schema.$schema ?? ''));
  if (!draft) return '2020-12';
  return draft[1] === undefined ? '2019-09' : (draft[1] as SchemaDraft);
}

/** Drops faults that only repeat a fault inside them. */
function innermost(faults: readonly Fault[]): Issue[] {
  const leaves = faults.filter(
    (fault) => !faults.some((other) => other.instanceLocation.startsWith(`${fault.instanceLocation}/`)),
  );
  return leaves.map((fault) => ({
    path: dotted(fault.instanceLocation),
    message: fault.keyword === 'false' ? 'Is not allowed here' : fault.error,
  }));
}

/** Converts a JSON Pointer fragment (RFC 6901, section 6) to a dotted path. */
function dotted(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}
