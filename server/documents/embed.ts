import { isPlainObject, type JsonSchema } from '../schema/schema.js';

/** A schema as a part of a document. Null if it cannot be one; `problem` then says why. */
export interface Embedded {
  readonly schema: JsonSchema | boolean | null;
  readonly problem?: string;
}

const ONE = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'contentSchema',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
]);
const LIST = new Set(['allOf', 'anyOf', 'oneOf']);
const MAP = new Set(['properties', 'patternProperties']);
/** Keywords that name a schema, which have no meaning inside a document. */
const NAMING = new Set(['$schema', '$id', '$anchor', '$comment', '$vocabulary']);
/** Keywords that are converted together with others. */
const TOGETHER = new Set([
  '$defs',
  'definitions',
  'items',
  'prefixItems',
  'additionalItems',
  'dependencies',
  'dependentSchemas',
  'dependentRequired',
]);
/** The oldest drafts, in which `$ref` hides the keywords beside it. */
const HIDES_SIBLINGS = /draft-0[4-7]/;

/**
 * Makes a schema a part of a document: its references lead to its new place, and its keywords are those of draft 2020-12, in which OpenAPI 3.1 is written.
 *
 * @param at JSON Pointer of the schema in the document, as a reference: `#/components/schemas/name`.
 */
export function embed(schema: JsonSchema, at: string): Embedded {
  try {
    return { schema: new SchemaEmbedder(schema, at).run() };
  } catch (error) {
    if (error instanceof Unembeddable) return { schema: null, problem: error.reason };
    throw error;
  }
}

class Unembeddable {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

type SchemaPlace = { readonly from: string; readonly to: string };
type Draft = Record<string, unknown>;

class SchemaEmbedder {
  readonly #root: JsonSchema;
  readonly #at: string;
  readonly #hides: boolean;
  /** The new place of each part, by its old place or anchor. */
  readonly #moved = new Map<string, string>();
  readonly #references: { readonly draft: Draft; readonly to: string }[] = [];

  constructor(root: JsonSchema, at: string) {
    this.#root = root;
    this.#at = at;
    this.#hides = HIDES_SIBLINGS.test(String(root.$schema ?? ''));
  }

  run(): JsonSchema | boolean {
    const schema = this.#rewrite(this.#root, { from: '#', to: this.#at });
    for (const { draft, to } of this.#references) {
      const own = typeof this.#root.$id === 'string' ? this.#root.$id.replace(/#$/, '') : null;
      const local = own !== null && (to === own || to.startsWith(`${own}#`)) ? to.slice(own.length) : to;
      const target = this.#moved.get(plainPointer(local === '' ? '#' : local));
      if (target === undefined) throw new Unembeddable(`It refers to ${to}, which is not a part of it`);
      draft.$ref = encodeURI(target);
    }
    return schema;
  }

  #rewrite(schema: unknown, place: SchemaPlace): JsonSchema | boolean {
    this.#moved.set(place.from, place.to);
    if (typeof schema === 'boolean') return schema;
    if (!isPlainObject(schema)) throw new Unembeddable('A part of it is no schema');
    if (schema.$dynamicRef !== undefined || schema.$recursiveRef !== undefined)
      throw new Unembeddable('It uses dynamic references');
    if (typeof schema.$id === 'string' && place.from !== '#')
      throw new Unembeddable('A part of it has an $id of its own');
    if (typeof schema.$anchor === 'string') this.#moved.set(`#${schema.$anchor}`, place.to);
    return this.#reference(schema, place) ?? this.#keywords(schema, place);
  }

  /** A schema with `$ref`, and the keywords beside it where they count. */
  #reference(schema: JsonSchema, place: SchemaPlace): JsonSchema | undefined {
    const { $ref, ...rest } = schema;
    if (typeof $ref !== 'string') return undefined;
    const draft: Draft = {};
    this.#references.push({ draft, to: $ref });
    if (this.#hides) return draft;
    return Object.assign(draft, this.#keywords(rest, place));
  }

  #keywords(schema: JsonSchema, place: SchemaPlace): JsonSchema {
    const draft: Draft = {};
    for (const [key, value] of Object.entries(schema)) {
      if (NAMING.has(key)) continue;
      const inside = { from: `${place.from}/${key}`, to: `${place.to}/${key}` };
      if (LIST.has(key) && Array.isArray(value)) draft[key] = this.#list(value, inside);
      else if (MAP.has(key) && isPlainObject(value)) draft[key] = this.#map(value, inside);
      else if (ONE.has(key)) draft[key] = this.#rewrite(value, inside);
      else if (!TOGETHER.has(key)) draft[key] = value;
    }
    this.#definitions(schema, place, draft);
    this.#items(schema, place, draft);
    this.#dependencies(schema, place, draft);
    this.#bounds(draft);
    return draft;
  }

  #list(schemas: readonly unknown[], { from, to }: SchemaPlace): (JsonSchema | boolean)[] {
    return schemas.map((schema, at) => this.#rewrite(schema, { from: `${from}/${at}`, to: `${to}/${at}` }));
  }

  #map(schemas: JsonSchema, { from, to }: SchemaPlace): Record<string, JsonSchema | boolean> {
    return Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => {
        const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
        return [name, this.#rewrite(schema, { from: `${from}/${step}`, to: `${to}/${step}` })];
      }),
    );
  }

  /** Converts the named schemas inside a schema. */
  #definitions(schema: JsonSchema, { from, to }: SchemaPlace, draft: Draft): void {
    for (const key of ['definitions', '$defs']) {
      const own = schema[key];
      if (!isPlainObject(own)) continue;
      const moved = this.#map(own, { from: `${from}/${key}`, to: `${to}/$defs` });
      draft.$defs = { ...(draft.$defs as Draft | undefined), ...moved };
    }
  }

  /** Tuples: `items` and `additionalItems` up to 2019-09, `prefixItems` and `items` since. */
  #items(schema: JsonSchema, { from, to }: SchemaPlace, draft: Draft): void {
    const old = Array.isArray(schema.items);
    const [tupleKey, restKey] = old ? ['items', 'additionalItems'] : ['prefixItems', 'items'];
    const tuple = schema[tupleKey];
    const rest = schema[restKey];
    if (Array.isArray(tuple)) {
      draft.prefixItems = this.#list(tuple, { from: `${from}/${tupleKey}`, to: `${to}/prefixItems` });
      if (rest !== undefined)
        draft.items = this.#rewrite(rest, { from: `${from}/${restKey}`, to: `${to}/items` });
    } else if (schema.items !== undefined) {
      draft.items = this.#rewrite(schema.items, { from: `${from}/items`, to: `${to}/items` });
    }
  }

  /** Dependencies between properties: one keyword up to draft 07, two since. */
  #dependencies(schema: JsonSchema, { from, to }: SchemaPlace, draft: Draft): void {
    const names: Record<string, unknown> = {};
    const schemas: Record<string, unknown> = {};
    for (const key of ['dependencies', 'dependentSchemas', 'dependentRequired']) {
      const place = { from: `${from}/${key}`, to: `${to}/dependentSchemas` };
      for (const [name, value] of Object.entries((schema[key] ?? {}) as JsonSchema)) {
        if (Array.isArray(value)) names[name] = value;
        else Object.assign(schemas, this.#map({ [name]: value }, place));
      }
    }
    const some = (part: object): boolean => Object.keys(part).length > 0;
    if (some(names)) draft.dependentRequired = names;
    if (some(schemas)) draft.dependentSchemas = schemas;
  }

  /** In draft 04 an exclusive bound is a flag beside the bound. */
  #bounds(draft: Draft): void {
    for (const [flag, bound] of [
      ['exclusiveMinimum', 'minimum'],
      ['exclusiveMaximum', 'maximum'],
    ] as const) {
      if (typeof draft[flag] !== 'boolean') continue;
      if (draft[flag]) {
        draft[flag] = draft[bound];
        delete draft[bound];
      } else delete draft[flag];
    }
  }
}

/** A JSON Pointer (RFC 6901) without the percent-encoding of a URI fragment. */
function plainPointer(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
