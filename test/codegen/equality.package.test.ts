import { expect } from 'chai';
import { clientModule } from '../../server/codegen/client-module.js';
import { fetchCatalogue } from '../../server/codegen/fetch-catalogue.js';
import { compileFiles } from '../support/compile.js';
import { closeLater } from '../support/resources.js';
import { codegenGateway, TOKEN } from './fixtures/gateway.js';

const EQUALITY = `
import type { ChannelInput, ChannelPayload, ClientEvent, MethodParams, MethodPaths, MethodResult } from 'agent-session-gateway/client';
import type { codegenGateway } from '../../test/codegen/fixtures/gateway.js';
import { type Equal, expectType } from '../../test/types/fixtures/equal.js';
import type { GatewayContract, GatewayMethods } from './gateway.gen.js';

type Live = ReturnType<typeof codegenGateway>;
type Paths = MethodPaths<Live>;
expectType<Equal<Paths, MethodPaths<GatewayContract>>>();
expectType<Equal<Paths, MethodPaths<GatewayMethods>>>();

// The names of what differs, in the compiler's message.
type DifferentParams = { [P in Paths]: Equal<MethodParams<Live, P>, MethodParams<GatewayMethods, P>> extends true ? never : P }[Paths];
type DifferentResult = { [P in Paths]: Equal<MethodResult<Live, P>, MethodResult<GatewayMethods, P>> extends true ? never : P }[Paths];
export const params: never = undefined! as DifferentParams;
export const results: never = undefined! as DifferentResult;

expectType<Equal<ChannelInput<Live, 'tasks'>, ChannelInput<GatewayContract, 'tasks'>>>();
expectType<Equal<ChannelPayload<Live, 'tasks'>, ChannelPayload<GatewayContract, 'tasks'>>>();
expectType<Equal<ClientEvent<Live, 'custom'>, ClientEvent<GatewayContract, 'custom'>>>();
type Said<Source, Name> = Extract<ClientEvent<Source, 'data'>, { name: Name }>['value'];
expectType<Equal<ClientEvent<Live, 'data'>['name'], ClientEvent<GatewayContract, 'data'>['name']>>();
expectType<Equal<Said<Live, 'chart'>, Said<GatewayContract, 'chart'>>>();
expectType<Equal<Said<Live, "it's">, Said<GatewayContract, "it's">>>();

// What a handler returns has no schema, and that of a plain JSON Schema is not known to the compiler.
type Known = 'weather' | 'locate' | 'note';
type Asked<Source, Name> = Extract<ClientEvent<Source, 'tool_use'>, { name: Name }>;
expectType<Equal<ClientEvent<Live, 'tool_use'>['name'], ClientEvent<GatewayContract, 'tool_use'>['name']>>();
expectType<Equal<Asked<Live, Known>['input'], Asked<GatewayContract, Known>['input']>>();
expectType<Equal<Asked<GatewayContract, 'plain'>['input'], { n: number }>>();
`;

describe('a generated client', () => {
  it('has the types that are inferred from the gateway itself', async () => {
    const { url } = await closeLater(codegenGateway(), (gateway) => gateway.close()).start();
    const { code, problems } = await clientModule(await fetchCatalogue(url!, TOKEN));
    expect(problems).to.deep.equal([]);
    const files = { 'gateway.gen.ts': code, 'equality.ts': EQUALITY };
    expect(await compileFiles('codegen-equality', files)).to.equal('');
  });
});
