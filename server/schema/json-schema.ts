import { createRequire } from 'node:module';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { toJSONSchema, type z } from 'zod';
import { isPromise } from '../async/maybe-promise.js';
import { type AnySchema, isPlainObject, isStandardSchema, type JsonSchema } from './schema.js';

/** Callers see the input side of a schema, before defaults and transforms; results leave by the output side. */
export type SchemaSide = 'input' | 'output';

/** A converted schema; null where no converter could, and then `problem` says why. */
export interface JsonSchemaConversion {
  readonly schema: JsonSchema | null;
  readonly problem?: string;
}

type Standard = StandardSchemaV1['~standard'] & Partial<StandardJSONSchemaV1['~standard']>;
type ZodToJsonSchema = (schema: unknown, options: Readonly<Record<string, unknown>>) => JsonSchema;

/**
 * Writes one side of a schema as JSON Schema, by the first converter that understands it. Never throws. An empty conversion of
 * a schema that does not accept everything is a problem, since readers take it for "accepts anything".
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

/** What leaves the gateway is written as JSON, where a date is a string. Zod leaves it to us to say so. */
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
    const converted = toJSONSchema(schema as never, { io: 'output', unrepresentable }) as JsonSchema;
    // A schema of an older zod does not ask, and has nothing instead of what it cannot represent.
    if (!asked) throw error;
    return converted;
  }
}

function convert(schema: StandardSchemaV1, side: SchemaSide): JsonSchema | null {
  const standard: Standard = schema['~standard'];
  if (standard.jsonSchema) return standard.jsonSchema[side]({ target: 'draft-2020-12' });
  if (standard.vendor !== 'zod') return null;
  if ('_zod' in schema) return toJSONSchema(schema as never, { io: side }) as JsonSchema;
  // Its converter answers a zod 4 schema with an empty object, so only zod 3 may reach it.
  const options = { pipeStrategy: side, effectStrategy: side === 'input' ? 'input' : 'any' };
  return loadZodToJsonSchema()(schema, options);
}

let zodToJsonSchema: ZodToJsonSchema | undefined;

/** Loaded when the first zod 3 schema is converted: most gateways have none. */
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

/** Whether an empty schema is the truth. Zod says so itself; others are asked to judge a value of each JSON type. */
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

/** Looks through optional, default, pipe, lazy and zod 3 effects for `any` or `unknown`. */
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
  // A transform at the end of a chain can be anything, so its output is not known to be everything.
  if (def.typeName === 'ZodEffects' && side === 'output') return false;
  const inner = def.innerType ?? def.schema ?? (side === 'input' ? def.in : def.out) ?? def.getter?.();
  return inner !== undefined && isZodAny(inner, side, depth + 1);
}
