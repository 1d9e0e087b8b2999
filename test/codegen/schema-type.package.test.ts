import { createServer } from 'node:http';
import { expect } from 'chai';
import { schemaType } from '../../server/codegen/schema-type.js';
import { Names } from '../../server/codegen/text.js';
import { compileFiles } from '../support/compile.js';
import { listenWith } from '../support/host-server.js';
import { tempDir } from '../support/temp-dir.js';

/** The declarations on one line each, without the words every one begins with. */
async function typed(schema: unknown): Promise<string> {
  const { code } = await schemaType(schema, 'X', new Names());
  return code.replace(/\s+/g, ' ').replaceAll('export type ', '').replace(/;$/, '');
}

const CASES: readonly (readonly [name: string, schema: unknown, type: string])[] = [
  ['primitives', { type: ['string', 'integer', 'boolean', 'null'] }, 'X = string | number | boolean | null'],
  ['true', true, 'X = unknown'],
  ['false', false, 'X = never'],
  ['nothing said', { description: '' }, 'X = unknown'],
  ['const', { const: { a: [1, "it's"] } }, `X = { a: [1, "it's"] }`],
  ['enum', { type: 'string', enum: ['a', null, 2] }, `X = 'a' | null | 2`],
  ['an empty enum', { enum: [] }, 'X = never'],
  [
    'optional properties',
    { properties: { a: { type: 'string' }, b: {} } },
    'X = { a?: string | undefined; b?: unknown; }',
  ],
  ['any object', { type: 'object' }, 'X = { [k: string]: unknown; }'],
  ['a closed empty object', { type: 'object', additionalProperties: false }, 'X = Record<string, never>'],
  ['required, not described', { type: 'object', required: ['a'], properties: {} }, 'X = { a: unknown; }'],
  ['a record', { type: 'object', additionalProperties: { type: 'number' } }, 'X = { [k: string]: number; }'],
  [
    'a record of some keys',
    {
      type: 'object',
      propertyNames: { enum: ['a', 'b'] },
      additionalProperties: { type: 'number' },
      required: ['a'],
    },
    'X = { a: number; b?: number | undefined; }',
  ],
  [
    'a pattern of keys',
    { type: 'object', patternProperties: { '^x-': { type: 'string' } } },
    'X = { [k: string]: string; }',
  ],
  ['two patterns', { patternProperties: { a: { type: 'string' }, b: {} } }, 'X = { [k: string]: unknown; }'],
  ['an array', { items: { type: 'string' }, minItems: 2, maxItems: 3 }, 'X = string[]'],
  ['an array of anything', { type: 'array' }, 'X = unknown[]'],
  ['an open tuple', { prefixItems: [{ type: 'string' }] }, 'X = [string, ...unknown[]]'],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }], items: false }, 'X = [string]'],
  [
    'a tuple with an optional end',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'null' }], items: false, minItems: 0 },
    'X = [] | [string] | [string, null]',
  ],
  [
    'a tuple of draft 7',
    { items: [{ type: 'string' }], additionalItems: { type: 'null' } },
    'X = [string, ...null[]]',
  ],
  ['a union', { anyOf: [{ type: 'string' }, false, { const: 1 }] }, 'X = string | 1'],
  ['a union with anything', { oneOf: [{ type: 'string' }, {}] }, 'X = unknown'],
  ['an empty union', { anyOf: [] }, 'X = never'],
  [
    'what stands beside a union',
    { type: 'object', properties: { a: {} }, required: ['a'], anyOf: [{ required: ['b'] }] },
    'X = { a: unknown; } & { b: unknown; [k: string]: unknown; }',
  ],
  ['an intersection', { allOf: [{ type: 'string' }, {}, true] }, 'X = string'],
  ['an impossible intersection', { allOf: [{ type: 'string' }, false] }, 'X = never'],
  [
    'references',
    { $ref: '#/definitions/a~1b%20c', definitions: { 'a/b c': { type: 'array', items: { $ref: '#' } } } },
    'X = XABC; XABC = X[]',
  ],
  ['a reference to itself', { anyOf: [{ $ref: '#' }, { type: 'null' }] }, 'X = null'],
  [
    'a circle of references',
    {
      $ref: '#/$defs/a',
      $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } },
    },
    'X = XA; XA = XB; XB = null',
  ],
  ['a type nobody knows', { type: 'money' }, 'X = unknown'],
  ['no schema', 7, 'X = unknown'],
];

describe('the type of a schema', () => {
  for (const [name, schema, type] of CASES) {
    it(`is right for ${name}`, async () => {
      const got = await typed(schema);
      expect(got.split('; X').sort().join('; X')).to.equal(type.split('; X').sort().join('; X'));
    });
  }

  it('compiles in every case, with both compilers', async () => {
    const names = new Names();
    const codes = [];
    for (const [, schema] of CASES) codes.push((await schemaType(schema, 'Case', names)).code);
    expect(await compileFiles('codegen-cases', { 'cases.ts': codes.join('\n') })).to.equal('');
  });

  it('takes nothing from the schema but what types are made of', async () => {
    const hostile = {
      title: 'Evil',
      $id: 'Evil',
      type: 'object',
      tsType: 'typeof import("node:fs")',
      extends: { properties: { stolen: { type: 'string' } } },
      properties: {
        a: { type: 'string', tsType: 'any; declare const hacked: 1' },
        b: { enum: ['x'], tsEnumNames: ['X = (() => 1)()'] },
        c: { type: 'string', description: 'ends */ export const hacked = 1; /* here', deprecated: true },
        ['__proto__' as string]: { type: 'number' },
        'd: any }; export const hacked = 1; type Y = {': {},
      },
      required: ['a', 'b', 'c'],
      additionalProperties: false,
    };
    const { code } = await schemaType(JSON.parse(JSON.stringify(hostile)), 'X', new Names());
    expect(code).to.equal(`export type X = {
  a: string;
  b: 'x';
  /**
   * @deprecated
   * ends * / export const hacked = 1; /* here
   */
  c: string;
  'd: any }; export const hacked = 1; type Y = {'?: unknown;
};`);
  });

  it('neither reads nor fetches what a schema refers to', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end('{ "type": "string" }');
    });
    const web = `${await listenWith(server)}/schema.json`;
    const file = tempDir();
    for (const reference of [
      web,
      `${web}#/x`,
      `file://${file}/a.json`,
      `${file}/a.json`,
      './package.json',
      '#anchor',
      '#/gone',
      '#/__proto__/x',
    ]) {
      const { code, problems } = await schemaType(
        {
          $id: web,
          type: 'object',
          properties: { a: { $ref: reference }, b: { type: 'null' } },
          required: ['a', 'b'],
        },
        'X',
        new Names(),
      );
      expect(code.replace(/\s+/g, ' ')).to.equal('export type X = { a: unknown; b: null; };');
      expect(problems).to.deep.equal([`the reference ${JSON.stringify(reference)} leads out of the schema`]);
    }
    expect(asked).to.equal(0);
  });

  it('is unknown, with a problem, where the schema is beyond conversion', async () => {
    let deep: unknown = { type: 'string' };
    for (let depth = 0; depth < 20_000; depth++) deep = { type: 'array', items: deep };
    const { name, code, problems } = await schemaType(deep, 'X', new Names());
    expect({ name, code }).to.deep.equal({ name: 'unknown', code: '' });
    expect(problems).to.have.length(1);
  });
});
