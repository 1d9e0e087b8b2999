import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A JSON Schema written as a plain object (draft 2020-12 unless its `$schema` names another draft). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What the gateway validates with: any Standard Schema (zod, valibot, arktype, …) or a plain JSON Schema object. */
export type AnySchema = StandardSchemaV1 | JsonSchema;

/** What a valid value becomes; JSON Schemas carry no type. */
export type SchemaOutput<Schema extends AnySchema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : unknown;

/** Whether a value is a Standard Schema; arktype's are functions. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  const standard = (value as { readonly '~standard'?: Partial<StandardSchemaV1['~standard']> | null })[
    '~standard'
  ];
  return typeof standard === 'object' && standard !== null && typeof standard.validate === 'function';
}

/** Whether a value is an object literal: class instances, arrays and schemas of libraries without a Standard Schema are not. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
