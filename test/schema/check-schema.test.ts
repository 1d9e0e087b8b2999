import { expect } from 'chai';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import { checkSchema } from '../../server/schema/check-schema.js';
import { validate } from '../../server/schema/validate.js';
import type { GatewayError } from '../../shared/errors.js';

const problemOf = (schema: unknown): string | null => {
  try {
    checkSchema(schema, 'it');
    return null;
  } catch (error) {
    expect(error).to.include({ code: 'INVALID_PARAMS' });
    const [detail] = (error as GatewayError).details as { path: string; message: string }[];
    expect(detail!.path).to.equal('it');
    return detail!.message;
  }
};

/** A schema of a library from before Standard Schema. */
class OldSchema {
  parse(value: unknown): unknown {
    return value;
  }
}

describe('the check of a schema', () => {
  const good: Record<string, unknown> = {
    'of zod': z.object({ a: z.string() }),
    'of zod 3': z3.object({ a: z3.string() }),
    'of valibot': v.object({ a: v.string() }),
    empty: {},
    'with nothing but a description': { description: 'anything' },
    'with a field that is called as a keyword': { type: 'object', properties: { type: { type: 'string' } } },
    'of draft 4': { type: 'number', minimum: 1, exclusiveMinimum: true },
    'that is converted': z.toJSONSchema(
      z.object({ a: z.array(z.email()).min(1), b: z.iso.date().optional() }),
    ),
    'with references': {
      $ref: '#/$defs/a',
      $defs: { a: { type: 'object', properties: { next: { $ref: '#' } } } },
    },
    'with keywords of its own': { type: 'string', 'x-widget': 'area' },
    'with what is undefined': { type: 'object', description: undefined },
  };
  for (const [what, schema] of Object.entries(good))
    it(`takes one ${what}`, () => {
      expect(problemOf(schema)).to.equal(null);
    });

  const bad: Record<string, [unknown, RegExp]> = {
    'a raw shape of zod': [{ a: z.string() }, /a raw shape; wrap it in z\.object\(\)/],
    'a raw shape with a field called as a keyword': [
      { title: z.string() },
      /a raw shape; wrap it in z\.object/,
    ],
    'a raw shape of valibot': [{ a: v.string() }, /a raw shape; wrap it in v\.object\(\)/],
    'a raw shape of an old library': [{ a: new OldSchema() }, /a raw shape/],
    'a schema of an old library': [new OldSchema(), /must be a Standard Schema/],
    'a schema inside of a JSON Schema': [
      { type: 'object', properties: { a: z.string() } },
      /properties\.a is a schema inside of a plain object/,
    ],
    'an object without a keyword': [{ a: 'string' }, /"a" is no keyword of JSON Schema/],
    'the properties alone': [{ a: { type: 'string' } }, /"a" is no keyword/],
    'a type that is none': [{ type: 'objekt' }, /JSON Schema: type: must be one of array/],
    'a type that is none, inside': [
      { type: 'object', properties: { a: { anyOf: [{ type: 'strin' }] } } },
      /properties\.a\.anyOf\.0\.type: must be one of array/,
    ],
    'a wrong value of a keyword': [
      { type: 'object', properties: { a: { type: 'string', required: true } } },
      /properties\.a\.required: /,
    ],
    'a wrong pattern': [{ type: 'string', pattern: '(' }, /pattern: /],
    'a reference to nothing': [{ $ref: '#/$defs/nope' }, /"#\/\$defs\/nope" leads to nothing/],
    'no schema at all': [() => true, /must be a Standard Schema .* or a plain JSON Schema object/],
  };
  for (const [what, [schema, problem]] of Object.entries(bad))
    it(`refuses ${what}`, () => {
      expect(problemOf(schema)).to.match(problem);
      expect(problemOf(schema), 'again').to.match(problem);
    });

  it('refuses one that contains itself', () => {
    const schema: Record<string, unknown> = { type: 'object' };
    schema.properties = { again: schema };
    expect(problemOf(schema)).to.match(/written as JSON/);
  });

  it('leaves a schema as it was, so that a frozen one validates too', () => {
    const schema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
    });
    expect(problemOf(schema)).to.equal(null);
    expect(validate(schema, { a: 'x' }, 'input')).to.deep.equal({ a: 'x' });
    expect(() => validate(schema, { a: 1 }, 'input')).to.throw(/a: /);
  });
});
