/** The part of JSON Schema that forms use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** The kind of input for a value. */
export type FieldKind = 'text' | 'number' | 'boolean' | 'choice' | 'json';

/** The fields of a schema; undefined if it describes no object with named fields, so that the whole value is entered as JSON. */
export function fieldsOf(schema: unknown): readonly (readonly [name: string, schema: Schema])[] | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { properties } = schema as Schema;
  const fields = Object.entries(properties ?? {});
  return fields.length > 0 ? fields : undefined;
}

/** Whether a schema describes no input. */
export function wantsNothing(schema: unknown): boolean {
  return schema === null || schema === undefined;
}

export function kindOf({ type, enum: choices }: Schema): FieldKind {
  if (choices?.every((choice) => typeof choice === 'string')) return 'choice';
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'boolean';
  return 'json';
}

/** The text of a field for a value, before anybody edits it. */
export function writeText(value: unknown, kind: FieldKind): string {
  if (value === undefined) return '';
  return kind === 'json' || typeof value !== 'string' ? JSON.stringify(value) : value;
}

/** The value of a field's text; undefined for an empty field. @throws SyntaxError for invalid JSON */
export function readText(text: string, kind: FieldKind): unknown {
  if (kind === 'boolean') return text === 'true';
  if (text === '') return undefined;
  if (kind === 'number') return Number(text);
  return kind === 'json' ? JSON.parse(text) : text;
}
