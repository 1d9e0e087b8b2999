import { createRequire } from 'node:module';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import * as z from 'zod';
import { isPromise } from '../async/maybe-promise.js';
import { type AnySchema, isPlainObject, isStandardSchema, type JsonSchema } from './schema.js';

/** Side of a schema: callers see the input, before defaults and transforms; results have the output form. */
export type SchemaSide = 'input' | 'output';

/** A converted schema. Null if no converter succeeded; `problem` then gives the reason. */
export interface JsonSchemaConversion {
  readonly schema: JsonSchema | null;
  readonly problem?: string;
}

type Standard = StandardSchemaV1['~standard'] & Partial<StandardJSONSchemaV1['~standard']>;
type ZodToJsonSchema = (schema: unknown, options: Readonly<Record<string, unknown>>) => JsonSchema;

/**
 * Converts one side of a schema to JSON Schema, with the first converter that supports it. Never throws. An empty result for a schema that
 * does not accept everything is a problem, because readers take it for "accepts anything".
 */
export function toJsonSchema(schema: AnySchema, side: SchemaSide): JsonSchemaConversion {
  try {
    if (!isStandardSchema(schema)) {
      if (isPlainObject(schema)) return { schema };
      return { schema: null, problem: 'It is neither a Standard Schema nor a plain JSON Schema object' };
    }
    const converted = side === 'output' ? convertOutput(schema) : convert(schema, side);
    if (converted === null) {
      return {
        schema: null,
        problem: `${schema['~standard'].vendor} schemas cannot be converted by themselves`,
      };
    }
    return isEmpty(converted) && !acceptsAll(schema, side)
      ? {
          schema: null,
          problem: `It converts to an empty JSON Schema on its ${side} side, although it does not accept everything`,
        }
      : { schema: converted };
  } catch (error) {
    return { schema: null, problem: error instanceof Error ? error.message : 'Its converter failed' };
  }
}

/** Converts the output side. Output is written as JSON, in which a date is a string, but zod leaves that mapping to its caller. */
function convertOutput(schema: StandardSchemaV1): JsonSchema | null {
  try {
    return convert(schema, 'output');
  } catch (error) {
    if (!('_zod' in schema)) throw error;
    let asked = false;
    const unrepresentable = ({ zodSchema }: { readonly zodSchema: z.core.$ZodType }) => {
      asked = true;
      return zodSchema._zod.def.type === 'date'
        ? ({ type: 'string', format: 'date-time' } as const)
        : ('throw' as const);
    };
    const converted = z.toJSONSchema(schema as never, { io: 'output', unrepresentable }) as JsonSchema;
    // An older zod does not call back, and omits values that it cannot represent.
    if (!asked) throw error;
    return converted;
  }
}

function convert(schema: StandardSchemaV1, side: SchemaSide): JsonSchema | null {
  const standard: Standard = schema['~standard'];
  if (standard.jsonSchema) return standard.jsonSchema[side]({ target: 'draft-2020-12' });
  if (standard.vendor !== 'zod') return null;
  if ('_zod' in schema) return z.toJSONSchema(schema as never, { io: side }) as JsonSchema;
  // Only for zod 3: the converter returns an empty object for a zod 4 schema.
  const options = { pipeStrategy: side, effectStrategy: side === 'input' ? 'input' : 'any' };
  return loadZodToJsonSchema()(schema, options);
}

let zodToJsonSchema: ZodToJsonSchema | undefined;

/** Loaded with the first zod 3 schema, because most gateways have none. */
function loadZodToJsonSchema(): ZodToJsonSchema {
  zodToJsonSchema ??= (
    createRequire(import.meta.url)('zod-to-json-schema') as { zodToJsonSchema: ZodToJsonSchema }
  ).zodToJsonSchema;
  return zodToJsonSchema;
}

function isEmpty(schema: JsonSchema): boolean {
  return Object.keys(schema).every((key) => key === '$schema');
}

const PROBES: readonly unknown[] = [null, true, 0, '', [], {}];

/** Whether a schema accepts everything. Zod says so itself; other schemas are tested with a value of each JSON type. */
function acceptsAll(schema: StandardSchemaV1, side: SchemaSide): boolean {
  if (schema['~standard'].vendor === 'zod') return isZodAny(schema, side, 0);
  return PROBES.every((probe) => {
    const result = schema['~standard'].validate(probe);
    if (!isPromise(result)) return !result.issues;
    result.then(undefined, () => {});
    return false;
  });
}

interface ZodDefinition {
  readonly type?: unknown;
  readonly typeName?: unknown;
  readonly innerType?: unknown;
  readonly in?: unknown;
  readonly out?: unknown;
  readonly schema?: unknown;
  readonly getter?: () => unknown;
}

const MAX_WRAPPERS = 16;

/** Whether a schema is `any` or `unknown` below optional, default, pipe, lazy and zod 3 effects. */
function isZodAny(schema: unknown, side: SchemaSide, depth: number): boolean {
  const zod = schema as
    | { readonly _zod?: { readonly def: ZodDefinition }; readonly _def?: ZodDefinition }
    | undefined;
  const def = zod?._zod?.def ?? zod?._def;
  if (!def || depth > MAX_WRAPPERS) return false;
  if (
    def.type === 'any' ||
    def.type === 'unknown' ||
    def.typeName === 'ZodAny' ||
    def.typeName === 'ZodUnknown'
  )
    return true;
  // The output of a final transform is unknown.
  if (def.typeName === 'ZodEffects' && side === 'output') return false;
  const inner = def.innerType ?? def.schema ?? (side === 'input' ? def.in : def.out) ?? def.getter?.();
  return inner !== undefined && isZodAny(inner, side, depth + 1);
}
