import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A JSON Schema written as a plain object (draft 2020-12 unless its `$schema` names another draft). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema for validation: any Standard Schema (zod, valibot, arktype, …) or a plain JSON Schema object. */
export type AnySchema = StandardSchemaV1 | JsonSchema;

/** The type of a validated value. JSON Schemas have no type. */
export type SchemaOutput<Schema extends AnySchema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : unknown;

type RawField<Value> = unknown extends Value ? false : Value extends StandardSchemaV1 ? true : false;

/** Refuses a raw shape, such as `{ name: z.string() }`, which is no schema: nothing would be checked. Wrap it in `z.object()`. */
export type NoRawShape<Schema> = [Schema] extends [StandardSchemaV1 | undefined]
  ? unknown
  : true extends { [Key in keyof Schema]-?: RawField<Schema[Key]> }[keyof Schema]
    ? { readonly schema: 'This is a raw shape. Wrap it in z.object()' }
    : unknown;

/** Whether a value is a Standard Schema. Arktype's are functions. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  const standard = (value as { readonly '~standard'?: Partial<StandardSchemaV1['~standard']> | null })[
    '~standard'
  ];
  return typeof standard === 'object' && standard !== null && typeof standard.validate === 'function';
}

/** Whether a value is an object literal, as opposed to a class instance, an array or a library's schema. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
