import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { embed } from '../../server/documents/embed.js';
import { validateJsonSchema } from '../../server/schema/plain-json-schema.js';
import type { JsonSchema } from '../../server/schema/schema.js';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const AT = '#/components/schemas/it';

/** Schemas of several drafts, with values they have to tell apart. */
const CASES: Readonly<Record<string, { readonly schema: JsonSchema; readonly values: readonly unknown[] }>> =
  {
    'a reference to itself': {
      schema: { type: 'object', properties: { next: { $ref: '#' } }, required: ['n'] },
      values: [{ n: 1 }, { n: 1, next: { n: 2 } }, { n: 1, next: {} }, {}],
    },
    'definitions of draft 07': {
      schema: {
        $schema: DRAFT_07,
        definitions: { 'a/b': { type: 'string' } },
        properties: { x: { $ref: '#/definitions/a~1b' } },
      },
      values: [{ x: 'a' }, { x: 1 }],
    },
    'a tuple of draft 07, with a reference into it': {
      schema: {
        $schema: DRAFT_07,
        items: [{ type: 'string' }, { $ref: '#/items/0' }],
        additionalItems: { type: 'number' },
      },
      values: [['a', 'b', 1], ['a', 1], ['a', 'b', 'c'], [1]],
    },
    'what is beside a reference, which draft 07 hides': {
      schema: {
        $schema: DRAFT_07,
        definitions: { a: { type: 'string' } },
        properties: { x: { $ref: '#/definitions/a', minLength: 3 } },
      },
      values: [{ x: 'a' }, { x: 'abc' }, { x: 1 }],
    },
    'what is beside a reference, which counts since': {
      schema: { $defs: { a: { type: 'string' } }, properties: { x: { $ref: '#/$defs/a', minLength: 3 } } },
      values: [{ x: 'a' }, { x: 'abc' }, { x: 1 }],
    },
    'a tuple of 2020-12': {
      schema: { prefixItems: [{ type: 'string' }], items: { $ref: '#/prefixItems/0' }, minItems: 1 },
      values: [['a'], ['a', 'b'], ['a', 1], [], [1]],
    },
    'anchors and a name of its own': {
      schema: {
        $id: 'https://schemas.test/it',
        $defs: { a: { $anchor: 'here', type: 'integer' } },
        properties: { x: { $ref: '#here' }, y: { $ref: 'https://schemas.test/it#/$defs/a' } },
      },
      values: [{ x: 1, y: 2 }, { x: 'a' }, { y: 'a' }],
    },
    'what a property demands': {
      schema: {
        dependentRequired: { a: ['b'] },
        dependentSchemas: { a: { required: ['c'] }, d: { properties: { e: { type: 'number' } } } },
      },
      values: [{ a: 1 }, { a: 1, b: 1 }, { a: 1, b: 1, c: 1 }, { d: 1, e: 'a' }, { d: 1, e: 1 }, {}],
    },
    'what a property demanded in draft 07': {
      schema: { $schema: DRAFT_07, dependencies: { a: ['b'], c: { required: ['d'] } } },
      values: [{ a: 1 }, { a: 1, b: 1 }, { c: 1 }, { c: 1, d: 1 }],
    },
    'keywords that are only names of properties or values': {
      schema: {
        properties: {
          $ref: { type: 'string' },
          items: { enum: [{ $ref: '#/nowhere' }] },
          definitions: { const: { $ref: 'x' } },
        },
      },
      values: [
        { $ref: 'a' },
        { $ref: 1 },
        { items: { $ref: '#/nowhere' } },
        { items: 1 },
        { definitions: { $ref: 'x' } },
      ],
    },
    'conditions and booleans': {
      schema: {
        if: { required: ['a'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { b: false } },
        else: { propertyNames: { maxLength: 2 } },
        not: { required: ['z'] },
      },
      values: [{ a: 1 }, { a: 1, b: 1 }, { bb: 1 }, { bbb: 1 }, { z: 1 }],
    },
  };

const judge = (schema: JsonSchema): ((value: unknown) => boolean) => {
  const validate = new Ajv2020({ strict: false }).compile(schema);
  return (value) => validate(value) as boolean;
};

describe('schemas as parts of documents', () => {
  for (const [name, { schema, values }] of Object.entries(CASES)) {
    it(`${name}: judges the same`, () => {
      // The gateway's own validator: what calls are really judged by.
      const original = (value: unknown): boolean => 'value' in validateJsonSchema(schema, value);
      const embedded = embed(schema, AT);
      expect(embedded.problem).to.equal(undefined);
      const part = judge({ components: { schemas: { it: embedded.schema } }, $ref: AT });
      expect(values.map(part)).to.deep.equal(values.map(original));
      expect(new Set(values.map(original)).size, 'values of both kinds').to.equal(2);
      expect(JSON.stringify(embedded.schema)).to.not.match(/"\$(?:id|schema|anchor)"/);
    });
  }

  it('an exclusive bound of draft 04 becomes one of today', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      minimum: 1,
      exclusiveMinimum: true,
      maximum: 3,
      exclusiveMaximum: false,
    };
    expect(embed(schema, AT).schema).to.deep.equal({ exclusiveMinimum: 1, maximum: 3 });
  });

  it('a schema that needs more than itself is none', () => {
    for (const schema of [
      { $ref: 'https://elsewhere.test/schema' },
      { $ref: '#/$defs/none' },
      { $ref: '#none' },
      { $dynamicRef: '#node' },
      { properties: { a: { $id: 'https://schemas.test/a' } } },
      { properties: { a: 1 } },
    ]) {
      const { schema: part, problem } = embed(schema as JsonSchema, AT);
      expect([part, typeof problem], JSON.stringify(schema)).to.deep.equal([null, 'string']);
    }
  });

  it('the schema of the host is left as it was', () => {
    const schema = { $id: 'https://schemas.test/it', properties: { next: { $ref: '#' } } };
    const before = structuredClone(schema);
    embed(schema, AT);
    expect(schema).to.deep.equal(before);
  });
});
