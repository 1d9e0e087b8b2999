import { cut } from '../../shared/cut.js';
import { type ErrorCode, fieldError } from '../../shared/errors.js';
import { missingReference, validateJsonSchema } from './plain-json-schema.js';
import { isPlainObject, isStandardSchema, type JsonSchema } from './schema.js';

const list = { type: 'array', items: { $ref: '#/$defs/schema' } };
const map = { type: 'object', additionalProperties: { $ref: '#/$defs/schema' } };
const one = { $ref: '#/$defs/schema' };
const text = { type: 'string' };
const names = { type: 'array', items: text };
const number = { type: 'number' };
const count = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };
const pattern = { type: 'string', format: 'regex' };
const anything = true;
const typeName = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] };

/** The keywords of all drafts that are interpreted, each with the values that it takes. */
const KEYWORDS: JsonSchema = {
  ...{ $schema: text, $id: text, id: text, $anchor: text, $dynamicAnchor: text, $comment: text },
  ...{ $ref: text, $dynamicRef: text, $recursiveRef: text, $recursiveAnchor: flag, $vocabulary: anything },
  ...{ $defs: map, definitions: map },
  ...{ title: text, description: text, format: text, contentEncoding: text, contentMediaType: text },
  ...{ default: anything, examples: anything, contentSchema: one },
  ...{ deprecated: flag, readOnly: flag, writeOnly: flag },
  type: { anyOf: [typeName, { type: 'array', items: typeName }] },
  ...{ enum: { type: 'array' }, const: anything },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ...{ allOf: list, anyOf: list, oneOf: list, not: one, if: one, then: one, else: one },
  ...{ properties: map, additionalProperties: one, propertyNames: one, unevaluatedProperties: one },
  patternProperties: { ...map, propertyNames: pattern },
  ...{ required: names, minProperties: count, maxProperties: count, dependentSchemas: map },
  dependentRequired: { type: 'object', additionalProperties: names },
  dependencies: { type: 'object', additionalProperties: { anyOf: [names, one] } },
  ...{ items: { anyOf: [one, list] }, prefixItems: list, additionalItems: one, unevaluatedItems: one },
  ...{ contains: one, minContains: count, maxContains: count, minItems: count, maxItems: count },
  uniqueItems: flag,
  ...{ minimum: number, maximum: number, multipleOf: { type: 'number', exclusiveMinimum: 0 } },
  // Draft 4 has flags.
  ...{ exclusiveMinimum: { type: ['number', 'boolean'] }, exclusiveMaximum: { type: ['number', 'boolean'] } },
  ...{ minLength: count, maxLength: count, pattern },
};

const META_SCHEMA: JsonSchema = {
  ...one,
  $defs: { schema: { type: ['object', 'boolean'], properties: KEYWORDS } },
};

const MAX_DEPTH = 64;
const usable = new WeakSet<object>();

/**
 * Refuses a schema that could check nothing: a raw shape, an object without a keyword of JSON Schema, an unusable JSON Schema.
 *
 * @param path Path of the schema, for the error.
 * @throws GatewayError `INVALID_PARAMS`, or `code`, that names the path
 */
export function checkSchema(schema: unknown, path: string, code: ErrorCode = 'INVALID_PARAMS'): void {
  if (isStandardSchema(schema) || (isPlainObject(schema) && usable.has(schema))) return;
  const problem = problemOf(schema);
  if (problem !== null) throw fieldError(path, problem, code);
  usable.add(schema as object);
}

/** The problem of what is not a schema of a library; null for one that is. */
export function standardSchemaProblem(schema: unknown): string | null {
  if (isStandardSchema(schema)) return null;
  return rawShape(schema) ?? 'must be a Standard Schema (zod 3.24 or later, valibot, …)';
}

function problemOf(schema: unknown): string | null {
  if (!isPlainObject(schema))
    return 'must be a Standard Schema (zod 3.24 or later, valibot, …) or a plain JSON Schema object';
  const raw = rawShape(schema);
  if (raw !== null) return raw;
  const keys = Object.keys(schema);
  if (keys.length > 0 && !keys.some((key) => Object.hasOwn(KEYWORDS, key)))
    return `must be a schema: ${JSON.stringify(cut(keys[0]!, 64))} is no keyword of JSON Schema, so everything would fit`;
  try {
    const plain = JSON.parse(JSON.stringify(schema)) as JsonSchema;
    const fault = faultOf(plain);
    if (fault !== null) return `must be a JSON Schema: ${fault}`;
    const missing = missingReference(plain);
    return missing === null
      ? null
      : `must be a JSON Schema: $ref ${JSON.stringify(missing)} leads to nothing in it`;
  } catch {
    return 'must be a JSON Schema that can be written as JSON';
  }
}

/** The problem of an object that holds schemas of a library, such as `{ name: z.string() }`. Null for any other value. */
function rawShape(schema: unknown): string | null {
  const found = findSchema(schema, '', new Set());
  if (!found) return null;
  const { at, vendor } = found;
  const wrap = vendor === 'valibot' ? 'v.object()' : vendor === 'zod' ? 'z.object()' : 'an object schema';
  return at.includes('.')
    ? `must be one schema, and ${at} is a schema inside of a plain object; write all of it as ${wrap}`
    : `must be a schema, not a raw shape; wrap it in ${wrap}`;
}

interface FoundSchema {
  readonly at: string;
  readonly vendor: string;
}

function findSchema(value: unknown, at: string, above: Set<unknown>): FoundSchema | null {
  if (at !== '' && isStandardSchema(value)) return { at, vendor: value['~standard'].vendor };
  if (at !== '' && isOldSchema(value)) return { at, vendor: 'unknown' };
  const branches = isPlainObject(value) || Array.isArray(value);
  if (!branches || above.has(value) || above.size >= MAX_DEPTH) return null;
  above.add(value);
  for (const [key, inner] of Object.entries(value)) {
    const found = findSchema(inner, at === '' ? key : `${at}.${key}`, above);
    if (found) return found;
  }
  above.delete(value);
  return null;
}

/** Whether a value is a schema of a library or a version from before Standard Schema. */
function isOldSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || isPlainObject(value)) return false;
  const { parse, validate } = value as { readonly parse?: unknown; readonly validate?: unknown };
  return typeof parse === 'function' || typeof validate === 'function';
}

/** The first keyword with a value that it does not take. */
function faultOf(schema: JsonSchema): string | null {
  const verdict = validateJsonSchema(META_SCHEMA, schema);
  const [fault] = 'issues' in verdict ? verdict.issues : [];
  if (!fault) return null;
  const isType = /(^|\.)type$/.test(fault.path) && !/(^|\.)properties\.type$/.test(fault.path);
  return `${fault.path}: ${isType ? `must be one of ${typeName.enum.join(', ')}` : fault.message}`;
}
