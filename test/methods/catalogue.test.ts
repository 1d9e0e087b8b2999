import { expect } from 'chai';
import * as v from 'valibot';
import { z } from 'zod';
import { listMethods, listPayloads } from '../../server/methods/catalogue.js';
import { flattenMethods } from '../../server/methods/flatten.js';
import { method } from '../../server/methods/method.js';

const entries = flattenMethods({
  zeta: async () => 1,
  tasks: {
    create: method({
      description: 'Creates a task',
      schema: z.object({ title: z.string(), tags: z.array(z.string()).default([]) }),
      result: z.object({ id: z.string() }),
      handler: async () => ({ id: 'a' }),
    }),
    archive: method({ roles: ['admin'], handler: async () => 1 }),
    watch: async function* () {},
  },
  odd: method({
    schema: v.object({ a: v.string() }),
    result: z.object({ size: z.bigint() }),
    handler: async () => ({ size: 1n }),
  }),
});
const paths = (roles?: readonly string[]) =>
  listMethods(entries, roles ? { id: 'ada', roles } : { id: 'ada' }).map(({ path }) => path);

describe('the method catalogue', () => {
  it('is sorted by path and holds only what the roles of the user open', () => {
    expect(paths()).to.deep.equal(['odd', 'tasks:create', 'tasks:watch', 'zeta']);
    expect(paths(['admin'])).to.deep.equal(['odd', 'tasks:archive', 'tasks:create', 'tasks:watch', 'zeta']);
    expect(listMethods(entries, null).map(({ path }) => path)).not.to.include('tasks:archive');
  });

  it("describes parameters from the caller's side and results from the other", () => {
    const create = listMethods(entries, null).find(({ path }) => path === 'tasks:create');
    expect(create).to.include({ description: 'Creates a task', stream: false });
    expect(create?.params).to.have.deep.property('required', ['title']);
    expect(create?.result).to.have.nested.property('properties.id.type', 'string');
    expect(create).not.to.have.property('problem');
  });

  it('says which methods stream, and has null for what has no schema', () => {
    const watch = listMethods(entries, null).find(({ path }) => path === 'tasks:watch');
    expect(watch).to.deep.equal({ path: 'tasks:watch', stream: true, params: null, result: null });
  });

  it('says why a schema is missing, for each side', () => {
    const odd = listMethods(entries, null).find(({ path }) => path === 'odd');
    expect(odd).to.include({ params: null, result: null });
    expect(odd?.problem).to.match(/^params: valibot.*; result: BigInt/);
  });

  it('has a schema or a problem for each method that declares one, and never an empty schema', () => {
    for (const summary of listMethods(entries, { id: 'ada', roles: ['admin'] })) {
      const { definition } = entries.get(summary.path)!;
      for (const side of ['params', 'result'] as const) {
        const declared = side === 'params' ? definition.schema : definition.result;
        const listed = summary[side];
        if (!declared) expect(listed).to.equal(null);
        else if (listed === null) expect(summary.problem).to.contain(`${side}: `);
        else expect(Object.keys(listed as object)).to.include('type');
      }
    }
  });

  it('says where params may be left out, which no schema can', () => {
    const listed = listMethods(
      flattenMethods({
        maybe: method({ schema: z.object({ a: z.string() }).optional(), handler: () => 1 }),
        fields: method({ schema: z.object({ a: z.string().optional() }), handler: () => 1 }),
      }),
      null,
    );
    expect(listed.map(({ path, paramsOptional }) => [path, paramsOptional])).to.deep.equal([
      ['fields', undefined],
      ['maybe', true],
    ]);
  });

  it('lists payloads by name, as callers write them, and why one has no schema', () => {
    const schemas = { tasks: z.object({ n: z.number().default(1) }), at: z.date() };
    const [at, tasks] = listPayloads(schemas);
    expect(at)
      .to.deep.include({ name: 'at', payload: null })
      .and.have.property('problem')
      .that.matches(/Date/);
    expect(tasks).to.have.nested.property('payload.properties.n.type', 'number');
    expect(tasks).not.to.have.nested.property('payload.required');
    expect(listPayloads(schemas)).to.equal(listPayloads(schemas));
  });
});
