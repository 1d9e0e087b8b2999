import { expect } from 'chai';
import fc from 'fast-check';
import { type Catalogue, clientModule } from '../../server/codegen/client-module.js';
import { compileFiles } from '../support/compile.js';
import { cases } from '../support/fuzz.js';

type Method = Catalogue['methods'][number];
const method = (path: string, rest: Partial<Method> = {}): Method => ({
  path,
  stream: false,
  params: null,
  result: null,
  ...rest,
});
const text = { type: 'string' };

/** Nothing in it is what a gateway of good will would say. */
const HOSTILE: Catalogue = {
  version: 1,
  methods: [
    method("it's", { description: '*/ export const hacked = 1; /*', params: text }),
    method('a\nb', { roles: ['*/', '@ts-expect-error'], params: text }),
    method('"; hacked(); "', { params: text }),
    method('\u0024{hacked}`'),
    method('__proto__', { params: text, result: text }),
    method('constructor', { params: text }),
    method('\u202eevil', { result: text }),
    // Names that become one.
    method('x:y', { params: text }),
    method('x_y', { params: text }),
    method('x-y', { params: text }),
    method('x:y:params:node', { params: text }),
    method('x:y', { description: 'said twice' }),
    method('x', {
      params: {
        $ref: '#/$defs/params',
        $defs: { params: { type: 'array', items: { $ref: '#/$defs/params' } } },
      },
    }),
    method('x:params', { params: text }),
    // Names the module uses itself.
    method('client', { params: text, result: text }),
    method('gateway'),
  ],
  channels: [
    { name: "it's", payload: text },
    { name: 'message', payload: { type: 'object', properties: { a: text }, required: ['a'] } },
  ],
  events: [
    { name: '*/', payload: { $ref: 'https://example.com/schema.json' } },
    { name: 'async', payload: null, problem: 'It cannot be converted */' },
  ],
  apps: [
    {
      name: 'one',
      isDefault: true,
      tools: [
        { name: "it's", description: '*/ export const hacked = 2; /*', input: text },
        { name: '__proto__', input: text },
        { name: 'of both', input: text, description: 'Of one' },
        { name: 'gone', problem: 'It is no schema */' },
      ],
      data: [{ name: '"; hacked(); "', payload: { type: 'object', properties: { a: text } } }],
      questions: [{ name: 'constructor', payload: text }],
    },
    {
      name: 'a',
      isDefault: false,
      tools: [
        { name: 'of both', input: { type: 'number' } },
        { name: "it's", input: text },
      ],
    },
  ],
};

const CHECK = `
import type { MethodParams, MethodPaths } from 'agent-session-gateway/client';
import * as generated from './gateway.gen.js';
import type { GatewayContract } from './gateway.gen.js';
export const names: readonly ['createGatewayClient'] = undefined! as readonly (keyof typeof generated)[] as never;
export const paths: Record<MethodPaths<GatewayContract>, 1> = undefined! as never;
export const params: MethodParams<GatewayContract, 'x:y'> = 'text';
// @ts-expect-error nothing of a description becomes code
generated.hacked;
`;

describe('a generated module', () => {
  it('is the same text whatever the order of the catalogue', async () => {
    const { code } = await clientModule(HOSTILE);
    await fc.assert(
      fc.asyncProperty(
        // Of two methods with one path the first counts, so these stay in order.
        fc.shuffledSubarray([...HOSTILE.methods.filter(({ description }) => description !== 'said twice')], {
          minLength: HOSTILE.methods.length - 1,
        }),
        async (methods) => {
          const apps = methods.length % 2 ? HOSTILE.apps : HOSTILE.apps!.toReversed();
          expect((await clientModule({ ...HOSTILE, methods, apps })).code).to.equal(code);
        },
      ),
      { numRuns: cases(10) },
    );
  });

  it('compiles whatever a catalogue says, and holds nothing else', async () => {
    const { code, problems } = await clientModule(HOSTILE);
    expect(await compileFiles('codegen-hostile', { 'gateway.gen.ts': code, 'check.ts': CHECK })).to.equal('');
    expect(code).not.to.contain('\u202e');
    expect(problems).to.deep.equal([
      { name: '*/', problem: 'the reference "https://example.com/schema.json" leads out of the schema' },
      { name: 'async', problem: 'It cannot be converted */' },
      { name: 'gone', problem: 'It is no schema */' },
    ]);
    expect(code).to.contain(
      "  'of both': { readonly input: OfBothInput | OfBothInputN2; readonly output: unknown };\n",
    );
  });

  it('says what a method is, who may call it, and what its types do not say', async () => {
    const { code, problems } = await clientModule({
      version: 1,
      methods: [
        method('tasks:watch', {
          description: 'Watches a list.\r\nFor ever.',
          roles: ['admin', 'owner'],
          stream: true,
          params: { type: 'object', properties: { id: text }, required: ['id'] },
          paramsOptional: true,
          problem: 'result: BigInt cannot be represented in JSON Schema',
        }),
      ],
    });
    expect(
      code,
    ).to.equal(`// Generated by \`npx agent-session-gateway generate\`. Do not edit: generate it again.
import { type Client, type ClientOptions, createClient, type Method } from 'agent-session-gateway/client';

export type TasksWatchParams = {
  id: string;
};

/** Methods by path: what callers send, and what they receive. */
export interface GatewayMethods {
  /**
   * Watches a list.
   * For ever.
   *
   * Roles: admin, owner
   *
   * Not in its types: result: BigInt cannot be represented in JSON Schema
   */
  'tasks:watch': Method<TasksWatchParams | undefined, AsyncIterable<unknown>>;
}

/** Payloads by channel. */
export type GatewayChannels = Readonly<Record<never, never>>;

/** Payloads by custom event. */
export type GatewayEvents = Readonly<Record<never, never>>;

/** Tools of the apps: their parameters. Their results have no schema. */
export type GatewayTools = Readonly<Record<never, never>>;

/** Values by data block. */
export type GatewayData = Readonly<Record<never, never>>;

/** Answers by question. */
export type GatewayQuestions = Readonly<Record<never, never>>;

/** The type of the gateway: \`createClient<GatewayContract>(…)\`. */
export interface GatewayContract {
  readonly '~contract': {
    readonly methods: GatewayMethods;
    readonly channels: GatewayChannels;
    readonly events: GatewayEvents;
    readonly content: {
      readonly tools: GatewayTools;
      readonly data: GatewayData;
      readonly questions: GatewayQuestions;
    };
  };
}

/** Creates a client of this gateway. */
export function createGatewayClient(options: ClientOptions): Client<GatewayContract> {
  return createClient<GatewayContract>(options);
}
`);
    expect(problems).to.deep.equal([
      { name: 'tasks:watch', problem: 'result: BigInt cannot be represented in JSON Schema' },
    ]);
  });
});
