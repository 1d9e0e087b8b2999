import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { flattenMethods, MAX_PATH_LENGTH } from '../../server/methods/flatten.js';
import { method } from '../../server/methods/method.js';
import { isGatewayError } from '../../shared/errors.js';
import { OPERATIONS } from '../../shared/operations.js';

const leaf = async () => 1;
const flatten = (tree: unknown) => flattenMethods(tree as never);

function refusalOf(tree: unknown): string {
  try {
    flatten(tree);
  } catch (error) {
    if (isGatewayError(error) && error.code === 'INVALID_REQUEST') return error.message;
    throw error;
  }
  throw new Error('expected a refusal');
}

describe('flattening of a method tree', () => {
  it('lays functions, definitions, namespaces and flat keys out by colon path', () => {
    const entries = flatten({
      ping: leaf,
      tasks: {
        create: method({ schema: z.object({}), handler: leaf }),
        admin: { archive: leaf },
        'bulk:purge': leaf,
      },
      'ns:with:colons': { go: leaf },
      'a.b-c_d@e+f': leaf,
    });
    expect([...entries.keys()]).to.have.members([
      'ping',
      'tasks:create',
      'tasks:admin:archive',
      'tasks:bulk:purge',
      'ns:with:colons:go',
      'a.b-c_d@e+f',
    ]);
    expect(entries.get('tasks:create')?.definition).to.have.keys('schema', 'handler');
  });

  it('keeps a method and a namespace of the same name apart', () => {
    expect([...flatten({ tasks: leaf, 'tasks:create': leaf }).keys()]).to.deep.equal([
      'tasks',
      'tasks:create',
    ]);
  });

  it('finds any random tree at the paths one would write', () => {
    const name = fc
      .stringMatching(/^[a-z0-9_.@+-]{1,8}$/)
      .filter((text) => text !== 'constructor' && text !== 'prototype');
    const { tree } = fc.letrec<{ tree: Record<string, unknown>; node: unknown }>((tie) => ({
      tree: fc.dictionary(name, tie('node'), { maxKeys: 4 }),
      node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.constant(leaf), tie('tree')),
    }));
    const pathsOf = (node: object, prefix: string): string[] =>
      Object.entries(node).flatMap(([key, value]) =>
        typeof value === 'function' ? [`${prefix}${key}`] : pathsOf(value, `${prefix}${key}:`),
      );
    fc.assert(
      fc.property(tree, (random) => {
        const namespace = { root: random };
        expect([...flatten(namespace).keys()]).to.deep.equal(pathsOf(namespace, ''));
        const flat = Object.fromEntries(pathsOf(namespace, '').map((path) => [path, leaf]));
        expect([...flatten(flat).keys()].sort()).to.deep.equal([...flatten(namespace).keys()].sort());
      }),
    );
  });

  it('finds nothing that was not declared', () => {
    const entries = flatten({ tasks: { create: leaf } });
    for (const path of [
      'constructor:constructor',
      '__proto__:toString',
      'hasOwnProperty',
      'tasks',
      'tasks:create:call',
      'tasks:constructor',
      'toString',
      '',
    ]) {
      expect(entries.get(path), path).to.equal(undefined);
    }
    fc.assert(
      fc.property(fc.string(), (path) => {
        expect(entries.has(path)).to.equal(path === 'tasks:create');
      }),
    );
  });

  it('sees own enumerable properties only', () => {
    const tree = Object.defineProperty({ shown: leaf }, 'hidden', { value: leaf, enumerable: false });
    expect([...flatten(tree).keys()]).to.deep.equal(['shown']);
    expect([...flatten(Object.assign(Object.create(null), { shown: leaf })).keys()]).to.deep.equal(['shown']);
  });

  it('refuses one path in two spellings', () => {
    expect(refusalOf({ tasks: { create: leaf }, 'tasks:create': leaf })).to.match(
      /"tasks:create" is declared twice/,
    );
    expect(refusalOf({ 'a:b': { c: leaf }, a: { 'b:c': leaf } })).to.match(/"a:b:c" is declared twice/);
  });

  it('refuses reserved, empty and malformed names', () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'a:constructor', 'a:__proto__:b']) {
      expect(refusalOf(JSON.parse(`{"ns":{${JSON.stringify(name)}:{}}}`)), name).to.match(/reserved name/);
    }
    for (const name of ['', ':', 'a:', ':a', 'a::b'])
      expect(refusalOf({ [name]: leaf }), name).to.match(/empty segment/);
    for (const name of ['a b', 'a/b', 'ä', 'a\n', 'a"', '*'])
      expect(refusalOf({ [name]: leaf }), name).to.match(/may use/);
  });

  it('refuses the names of operations as whole paths only', () => {
    for (const name of Object.keys(OPERATIONS)) {
      expect(refusalOf({ [name]: leaf })).to.match(/operation of the protocol/);
      expect([...flatten({ tasks: { [name]: leaf }, [name]: { now: leaf } }).keys()]).to.have.lengthOf(2);
    }
  });

  it('refuses values that are no method', () => {
    for (const value of [
      null,
      undefined,
      1,
      'x',
      true,
      [leaf],
      new Map(),
      Promise.resolve(leaf),
      new (class A {})(),
      z.string(),
    ]) {
      expect(refusalOf({ ns: { x: value } })).to.match(/"ns:x"/);
    }
    expect(refusalOf({ x: { __proto__: { inherited: leaf } } })).to.match(/"x" must be/);
    for (const tree of [null, [], leaf, 'x']) expect(refusalOf(tree)).to.match(/^methods must be an object/);
  });

  it('refuses an unwrapped definition, whose guard would guard nothing', () => {
    expect(refusalOf({ x: { guard: () => false, handler: leaf } })).to.match(/wrap it in method/);
    expect([...flatten({ x: { handler: leaf } }).keys()]).to.deep.equal(['x:handler']);
  });

  it('refuses definitions with wrong fields, by name', () => {
    const wrong: readonly [string, object][] = [
      ['handler', { handler: 1 }],
      ['schema', { schema: { type: 'object' } }],
      ['result', { result: {} }],
      ['roles', { roles: [] }],
      ['roles', { roles: 'admin' }],
      ['roles', { roles: [''] }],
      ['guard', { guard: true }],
      ['description', { description: 1 }],
      ['timeoutMs', { timeoutMs: 0 }],
      ['timeoutMs', { timeoutMs: Number.NaN }],
      ['stream', { stream: 'yes' }],
      ['stream', { stream: false, handler: async function* () {} }],
    ];
    for (const [field, given] of wrong) {
      expect(refusalOf({ x: method({ handler: leaf, ...given } as never) })).to.contain(`"x.${field}"`);
    }
  });

  it('bounds the length of a path, and so ends a tree that contains itself', () => {
    expect(flatten({ ['a'.repeat(MAX_PATH_LENGTH)]: leaf })).to.have.property('size', 1);
    expect(refusalOf({ ['a'.repeat(MAX_PATH_LENGTH + 1)]: leaf })).to.match(/longer than 256/);
    const loop: Record<string, unknown> = {};
    loop.again = loop;
    expect(refusalOf(loop)).to.match(/longer than 256/);
  });

  it('knows streaming methods by their kind of function or their word', () => {
    const entries = flatten({
      bare: async function* () {},
      declared: method({ handler: async function* () {} }),
      bound: async function* () {}.bind(null),
      stated: method({ stream: true, handler: () => (async function* () {})() }),
      plain: leaf,
    });
    expect([...entries.values()].filter(({ stream }) => stream).map(({ path }) => path)).to.deep.equal([
      'bare',
      'declared',
      'bound',
      'stated',
    ]);
  });
});
