import { expect } from 'chai';
import * as v from 'valibot';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod3';
import { toJsonSchema } from '../../server/schema/json-schema.js';

describe('conversion to JSON Schema', () => {
  it('shows callers the input side of zod 4 and results the output side', () => {
    const schema = z.object({ a: z.string().default('x'), at: z.iso.datetime() });
    expect(toJsonSchema(schema, 'input').schema).to.have.deep.property('required', ['at']);
    expect(toJsonSchema(schema, 'output').schema).to.have.deep.property('required', ['a', 'at']);
  });

  it('shows the wire string of a date codec on its input side', () => {
    const codec = z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (date) => date.toISOString(),
    });
    expect(toJsonSchema(z.object({ at: codec }), 'input').schema).to.have.nested.property(
      'properties.at.format',
      'date-time',
    );
  });

  it('converts zod/mini and zod 3', () => {
    const small = toJsonSchema(mini.object({ a: mini.string() }), 'input');
    expect(small.schema).to.have.nested.property('properties.a.type', 'string');
    const old = z3.object({ a: z3.string(), n: z3.string().transform(Number) });
    expect(toJsonSchema(old, 'input').schema).to.have.nested.property('properties.n.type', 'string');
    expect(toJsonSchema(old, 'input').schema).to.have.deep.property('required', ['a', 'n']);
  });

  it('passes a plain JSON Schema through', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(toJsonSchema(schema, 'input')).to.deep.equal({ schema });
    expect(toJsonSchema({}, 'input')).to.deep.equal({ schema: {} });
  });

  it('says why where a schema has no JSON form', () => {
    for (const schema of [
      z.date(),
      z.bigint(),
      z.object({ at: z.date() }),
      z.void(),
      v.object({ a: v.string() }),
    ]) {
      const { schema: converted, problem } = toJsonSchema(schema, 'input');
      expect(converted).to.equal(null);
      expect(problem).to.be.a('string').and.not.equal('');
    }
    const transform = z.string().transform((text) => text.length);
    expect(toJsonSchema(transform, 'output').schema).to.equal(null);
    expect(toJsonSchema(transform, 'input').schema).to.include({ type: 'string' });
  });

  it('knows that dates leave as strings, and nothing else of the kind', () => {
    const output = (schema: z.ZodType) => toJsonSchema(schema, 'output');
    expect(output(z.object({ at: z.date() })).schema)
      .to.have.nested.property('properties.at')
      .that.deep.equals({
        type: 'string',
        format: 'date-time',
      });
    expect(output(z.object({ at: z.date(), size: z.bigint() })).problem).to.match(/BigInt/);
    expect(toJsonSchema(z.object({ at: z.date() }), 'input').problem).to.match(/Date/);
  });

  it('takes no schema of an older zod for empty, which asks nobody about what it cannot represent', () => {
    const older = z.bigint();
    older._zod.processJSONSchema = ({ unrepresentable }) => {
      if (unrepresentable === 'throw') throw new Error('BigInt cannot be represented in JSON Schema');
    };
    expect(toJsonSchema(z.object({ size: older }), 'output').problem).to.match(/BigInt/);
  });

  it('never throws', () => {
    const hostile = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: () => ({ value: 1 }),
        get jsonSchema(): never {
          throw new Error('mine');
        },
      },
    };
    expect(toJsonSchema(hostile as never, 'input')).to.deep.equal({ schema: null, problem: 'mine' });
    expect(toJsonSchema(new Map() as never, 'input').problem).to.be.a('string');
    expect(toJsonSchema(null as never, 'input').problem).to.be.a('string');
  });

  it('takes an empty conversion for a problem, unless the schema accepts everything', () => {
    const standard = (validate: (value: unknown) => object) => ({
      '~standard': {
        version: 1,
        vendor: 'own',
        validate,
        jsonSchema: { input: () => ({}), output: () => ({}) },
      },
    });
    const picky = standard((value) =>
      typeof value === 'string' ? { value } : { issues: [{ message: 'no' }] },
    );
    expect(toJsonSchema(picky as never, 'input').problem).to.match(/empty JSON Schema/);
    expect(toJsonSchema(standard((value) => ({ value })) as never, 'input')).to.deep.equal({ schema: {} });
    const late = standard(() => Promise.reject(new Error('late')));
    expect(toJsonSchema(late as never, 'input').problem).to.match(/empty JSON Schema/);
  });

  it('lets any and unknown of zod be empty, in wrappers too', () => {
    for (const schema of [
      z.any(),
      z.unknown().optional(),
      z.lazy(() => z.unknown()),
      z.any().transform(String),
      z3.unknown(),
    ]) {
      expect(toJsonSchema(schema, 'input').schema, schema.constructor.name).to.be.an('object');
    }
    expect(
      toJsonSchema(
        z3.string().transform((text) => text.length),
        'output',
      ).problem,
    ).to.match(/empty JSON Schema/);
  });
});
