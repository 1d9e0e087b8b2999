import { isPlainObject, type JsonSchema } from '../schema/schema.js';
import { commentText, type Names, typeName } from './text.js';

/** A schema that is safe for the converter, and the parts left out of it. */
export interface PlainSchema {
  readonly schema: JsonSchema;
  readonly problems: readonly string[];
}

type SchemaPart = Readonly<Record<string, unknown>>;

const UNKNOWN: SchemaPart = { tsType: 'unknown' };
const NEVER: SchemaPart = { tsType: 'never' };
/** Not `{}`, which accepts anything. */
const NO_FIELDS: SchemaPart = { tsType: 'Record<string, never>' };
const UNDEFINED: SchemaPart = { tsType: 'undefined' };
/** Longer tuples with optional ends would need too many forms. */
const MAX_TUPLE_FORMS = 20;

/**
 * Rewrites a schema with the few keywords that types need. Catalogues are untrusted: the converter has keywords that put text into the
 * code, and would fetch references, so neither is passed on. References into the schema become separate types, named after `name`. Any
 * other reference is `unknown` and a problem.
 *
 * @param names Gives out the names of those types.
 */
export function plainSchema(schema: unknown, name: string, names: Names): PlainSchema {
  return new Rewriter(schema, name, names).rewrite();
}

class Rewriter {
  readonly #root: unknown;
  readonly #name: string;
  readonly #names: Names;
  readonly #defs = new Map<string, { readonly name: string; schema: SchemaPart }>();
  readonly #problems = new Set<string>();

  constructor(root: unknown, name: string, names: Names) {
    this.#root = root;
    this.#name = name;
    this.#names = names;
  }

  rewrite(): PlainSchema {
    const root = this.#named(this.#name, this.#root, new Set(['#']));
    const defs = [...this.#defs.values()].map(({ name, schema }) => [name, schema] as const);
    const schema = { ...root, ...(defs.length > 0 && { $defs: Object.fromEntries(defs) }) };
    return { schema, problems: [...this.#problems] };
  }

  /** A union of one member, so that the converter writes a type alias. Interfaces do not fit if an index signature is wanted. */
  #named(name: string, schema: unknown, open: ReadonlySet<string>): SchemaPart {
    return { title: name, ...notesOf(schema), anyOf: [this.#bare(schema, open)] };
  }

  #annotated(schema: unknown): SchemaPart {
    const notes = notesOf(schema);
    const bare = this.#bare(schema, new Set());
    return Object.keys(notes).length > 0 ? { anyOf: [bare], ...notes } : bare;
  }

  #property(schema: unknown, required: boolean): SchemaPart {
    const bare = this.#bare(schema, new Set());
    if (bare === UNKNOWN) return { ...UNKNOWN, ...notesOf(schema) };
    return { anyOf: required ? [bare] : [bare, UNDEFINED], ...notesOf(schema) };
  }

  /** @param open References that are being followed without an object or array in between. Meeting one again adds nothing. */
  #bare(schema: unknown, open: ReadonlySet<string>): SchemaPart {
    if (schema === false) return NEVER;
    if (!isPlainObject(schema)) return UNKNOWN;
    const { $ref, anyOf, oneOf, allOf } = schema;
    const parts: SchemaPart[] = [];
    if (typeof $ref === 'string') parts.push(this.#reference($ref, open));
    parts.push(this.#own(schema));
    for (const union of [anyOf, oneOf]) {
      if (!Array.isArray(union)) continue;
      const members = union.map((member) => this.#bare(member, open)).filter((member) => member !== NEVER);
      parts.push(members.length === 0 ? NEVER : members.includes(UNKNOWN) ? UNKNOWN : { anyOf: members });
    }
    if (Array.isArray(allOf)) parts.push(...allOf.map((member) => this.#bare(member, open)));
    const known = parts.filter((part) => part !== UNKNOWN);
    if (known.includes(NEVER)) return NEVER;
    if (known.length === 0) return UNKNOWN;
    return known.length === 1 ? known[0]! : { allOf: known };
  }

  #reference(reference: string, open: ReadonlySet<string>): SchemaPart {
    if (open.has(reference)) return NEVER;
    if (reference === '#') return { $ref: '#' };
    const target = reference.startsWith('#/') ? find(this.#root, reference) : undefined;
    if (target === undefined) {
      this.#problems.add(`the reference ${JSON.stringify(reference)} leads out of the schema`);
      return UNKNOWN;
    }
    let def = this.#defs.get(reference);
    if (!def) {
      const last = reference.slice(reference.lastIndexOf('/') + 1);
      def = { name: this.#names.take(`${this.#name}${typeName(unescapePart(last))}`), schema: UNKNOWN };
      this.#defs.set(reference, def);
      def.schema = this.#named(def.name, target, new Set([...open, reference]));
    }
    return { $ref: `#/$defs/${def.name}` };
  }

  /** The part of a schema in `enum`, `const` and `type`. */
  #own(schema: JsonSchema): SchemaPart {
    if (Object.hasOwn(schema, 'const')) return { enum: [schema.const] };
    if (Array.isArray(schema.enum)) return schema.enum.length > 0 ? { enum: [...schema.enum] } : NEVER;
    const types = typesOf(schema).map((type) => this.#typed(type, schema));
    if (types.length === 0 || types.includes(UNKNOWN)) return UNKNOWN;
    return types.length === 1 ? types[0]! : { anyOf: types };
  }

  #typed(type: unknown, schema: JsonSchema): SchemaPart {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
      case 'number':
        return { type };
      case 'integer':
        return { type: 'number' };
      case 'object':
        return this.#object(schema);
      case 'array':
        return this.#array(schema);
      default:
        this.#problems.add(`${JSON.stringify(type)} is no type`);
        return UNKNOWN;
    }
  }

  #object(schema: JsonSchema): SchemaPart {
    const { properties, additionalProperties, patternProperties, propertyNames } = schema;
    const given = isPlainObject(properties) ? properties : {};
    const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
    const keys = isPlainObject(propertyNames) && Array.isArray(propertyNames.enum) ? propertyNames.enum : [];
    const names = new Set([...Object.keys(given), ...required, ...keys.map(String)]);
    // The gateway refuses this key, and assigning to it would set a prototype.
    names.delete('__proto__');
    const entries = [...names].map((name) => {
      const own = Object.hasOwn(given, name) ? given[name] : keys.length > 0 ? additionalProperties : true;
      return [name, this.#property(own, required.has(name))] as const;
    });
    const patterns = isPlainObject(patternProperties) ? Object.values(patternProperties) : [];
    const others =
      keys.length > 0
        ? false
        : (additionalProperties ??
          (patterns.length > 0 ? (patterns.length === 1 ? patterns[0] : true) : !isPlainObject(properties)));
    if (names.size === 0 && others === false) return NO_FIELDS;
    return {
      type: 'object',
      properties: Object.fromEntries(entries),
      required: [...names].filter((name) => required.has(name)),
      additionalProperties: others === false ? false : this.#annotated(others),
    };
  }

  #array(schema: JsonSchema): SchemaPart {
    const { items, prefixItems, additionalItems, minItems, maxItems } = schema;
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : undefined;
    if (!first) return { type: 'array', items: this.#annotated(items ?? true) };
    const elements = first.map((element) => this.#annotated(element));
    const others = first === prefixItems ? items : additionalItems;
    const closed = others === false || (others === undefined && maxItems === first.length);
    const rest = closed ? false : this.#annotated(others ?? true);
    const fewest = typeof minItems === 'number' ? Math.max(0, minItems) : elements.length;
    const forms = [tuple(elements, rest)];
    for (let length = elements.length - 1; length >= fewest && forms.length < MAX_TUPLE_FORMS; length--)
      forms.unshift(tuple(elements.slice(0, length), false));
    return forms.length === 1 ? forms[0]! : { anyOf: forms };
  }
}

function tuple(elements: readonly SchemaPart[], rest: SchemaPart | false): SchemaPart {
  if (elements.length > 0) return { type: 'array', items: elements, additionalItems: rest };
  return rest === false ? { tsType: '[]' } : { type: 'array', items: rest };
}

function notesOf(schema: unknown): SchemaPart {
  if (!isPlainObject(schema)) return {};
  const description = typeof schema.description === 'string' ? commentText(schema.description) : '';
  return {
    ...(description !== '' && { description }),
    ...(schema.deprecated === true && { deprecated: true }),
  };
}

/** The types that a schema names, or that its keywords imply. */
function typesOf(schema: JsonSchema): readonly unknown[] {
  if (schema.type !== undefined) return Array.isArray(schema.type) ? schema.type : [schema.type];
  const has = (...keywords: readonly string[]): boolean =>
    keywords.some((word) => Object.hasOwn(schema, word));
  if (has('properties', 'required', 'additionalProperties', 'patternProperties')) return ['object'];
  return has('items', 'prefixItems') ? ['array'] : [];
}

/** Follows a JSON Pointer in a URI fragment (RFC 6901); undefined if there is no such place. */
function find(root: unknown, reference: string): unknown {
  let at = root;
  for (const part of reference.slice(2).split('/')) {
    const key = unescapePart(part);
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function unescapePart(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
