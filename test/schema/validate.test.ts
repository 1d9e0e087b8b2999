import { expect } from 'chai';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import { validate } from '../../server/schema/validate.js';
import { GatewayError } from '../../shared/errors.js';

const faultsOf = (run: () => unknown): GatewayError => {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('expected a failure');
};

const vendors = {
  'zod 4': z.object({ title: z.string().min(1), tags: z.array(z.string()).default([]) }),
  'zod 3': z3.object({ title: z3.string().min(1), tags: z3.array(z3.string()).default([]) }),
  valibot: v.object({
    title: v.pipe(v.string(), v.minLength(1)),
    tags: v.optional(v.array(v.string()), []),
  }),
};

describe('schema validation', () => {
  for (const [vendor, schema] of Object.entries(vendors)) {
    it(`returns what ${vendor} makes of a value, without a promise`, () => {
      expect(validate(schema, { title: 'a' }, 'params')).to.deep.equal({ title: 'a', tags: [] });
    });

    it(`names each fault of ${vendor} by its path`, () => {
      const error = faultsOf(() => validate(schema, { title: '', tags: [1] }, 'params of m'));
      expect(error.code).to.equal('INVALID_PARAMS');
      expect(error.message).to.match(/^Invalid params of m: /);
      expect((error.details as { path: string }[]).map(({ path }) => path)).to.have.members([
        'title',
        'tags.0',
      ]);
      for (const fault of error.details as { message: unknown }[])
        expect(fault.message).to.be.a('string').and.not.equal('');
    });
  }

  it('waits for a schema that is asynchronous itself', async () => {
    const schema = z.string().refine(async (text) => text === 'yes', 'say yes');
    const valid = validate(schema, 'yes', 'params');
    expect(valid).to.be.instanceOf(Promise);
    expect(await valid).to.equal('yes');
    const error = await Promise.resolve(validate(schema, 'no', 'params')).catch((caught: unknown) => caught);
    expect(error).to.include({ code: 'INVALID_PARAMS' });
    expect((error as GatewayError).details).to.deep.equal([{ path: '', message: 'say yes' }]);
  });

  it('passes on what the schema itself throws', () => {
    const broken = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: () => {
          throw new RangeError('mine');
        },
      },
    } as const;
    expect(() => validate(broken, 1, 'params')).to.throw(RangeError, 'mine');
  });

  it('reads the path segments of every form', () => {
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'own',
        validate: () => ({
          issues: [{ message: 'no', path: [{ key: 'a' }, 0, 'b', Symbol('s')] }, { message: 'bare' }],
        }),
      },
    };
    expect(faultsOf(() => validate(schema, 1, 'params')).details).to.deep.equal([
      { path: 'a.0.b.Symbol(s)', message: 'no' },
      { path: '', message: 'bare' },
    ]);
  });

  it('bounds what a hostile value can make it say', () => {
    const many = faultsOf(() =>
      validate(
        z.array(z.string()),
        Array.from({ length: 10_000 }, () => 1),
        'params',
      ),
    );
    expect(many.details).to.have.lengthOf(32);
    const long = faultsOf(() => validate(z.strictObject({}), { ['k'.repeat(100_000)]: 1 }, 'params'));
    expect(JSON.stringify(long).length).to.be.lessThan(4_000);
  });

  it('refuses schemas that are of no known kind', () => {
    for (const schema of [new Date(), [], new Map(), null, 'string', { __proto__: { type: 'object' } }]) {
      expect(faultsOf(() => validate(schema as never, {}, 'params')).code).to.equal('INVALID_REQUEST');
    }
  });
});

describe('validation with a plain JSON Schema', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', minLength: 2 }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['a'],
    additionalProperties: false,
  };
  const detailsOf = (given: object, value: unknown) =>
    faultsOf(() => validate(given as never, value, 'input')).details;

  it('returns the value as it is', () => {
    const value = { a: 'xx', tags: ['t'] };
    expect(validate(schema, value, 'input')).to.equal(value);
  });

  it('names the innermost fault by its path', () => {
    expect(detailsOf(schema, { a: 'x' })).to.deep.equal([
      { path: 'a', message: 'String is too short (1 < 2).' },
    ]);
    expect(detailsOf(schema, { a: 'xx', tags: ['t', 1] })).to.have.deep.nested.property('0.path', 'tags.1');
    expect(detailsOf(schema, { a: 'xx', q: 1 })).to.deep.equal([
      { path: 'q', message: 'Is not allowed here' },
    ]);
    expect(detailsOf(schema, {})).to.have.deep.nested.property('0.path', '');
    expect(detailsOf(schema, null)).to.have.deep.nested.property('0.path', '');
  });

  it('writes escaped pointers as plain names', () => {
    const odd = { type: 'object', properties: { 'a/b ~c%': { type: 'string' } } };
    expect(detailsOf(odd, { 'a/b ~c%': 1 })).to.have.deep.nested.property('0.path', 'a/b ~c%');
  });

  it('judges and returns the wire form of what host code passes', () => {
    expect(validate(schema, { a: 'xx', tags: undefined }, 'input')).to.deep.equal({ a: 'xx' });
    expect(detailsOf(schema, { a: undefined })).to.have.lengthOf(1);
    expect(detailsOf({}, undefined)).to.deep.equal([{ path: '', message: 'A value is required' }]);
  });

  it('understands what converters to runtime types drop: not, if, uniqueItems, dependentRequired, recursion', () => {
    expect(detailsOf({ not: { type: 'string' } }, 'x')).to.have.length.greaterThan(0);
    expect(
      detailsOf(JSON.parse('{"if":{"type":"string"},"then":{"minLength":3}}'), 'x'),
    ).to.have.length.greaterThan(0);
    expect(detailsOf({ type: 'array', uniqueItems: true }, [1, 1])).to.have.length.greaterThan(0);
    expect(detailsOf({ dependentRequired: { a: ['b'] } }, { a: 1 })).to.have.length.greaterThan(0);
    const tree = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } };
    expect(detailsOf(tree, { kids: [{ kids: [1] }] })).to.have.deep.nested.property(
      '0.path',
      'kids.0.kids.0',
    );
  });

  it('follows the draft that $schema names', () => {
    const tuple = { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false };
    const draft7 = { ...tuple, $schema: 'http://json-schema.org/draft-07/schema#' };
    expect(validate(draft7, ['a', 1], 'input')).to.deep.equal(['a', 1]);
    expect(detailsOf(draft7, ['a', 1, 2])).to.have.length.greaterThan(0);
  });

  it('takes property names of any text for what they are', () => {
    const texts = { type: 'object', additionalProperties: { type: 'string' } };
    for (const name of ['%E0', '%2C', '~1', '__proto__', 'a b']) {
      expect(detailsOf(texts, JSON.parse(`{${JSON.stringify(name)}:1}`))).to.have.deep.nested.property(
        '0.path',
        name,
      );
    }
    const broken = faultsOf(() => validate(texts, JSON.parse('{"\\ud800":1}'), 'input'));
    expect(broken).to.include({ code: 'INVALID_PARAMS' });
  });

  it('calls a schema that cannot be used the fault of its author', () => {
    for (const broken of [
      { $ref: 'https://example.com/x' },
      { type: 'string', pattern: '(' },
      { $ref: '#' },
    ]) {
      expect(faultsOf(() => validate(broken, 'x', 'input')).code).to.equal('INTERNAL');
    }
  });
});
