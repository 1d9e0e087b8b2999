import { Agent } from '@openai/agents';
import { expect } from 'chai';
import { z } from 'zod';
import { agentsApp } from '../../server/app-adapters/agents/index.js';
import { aiSdkApp } from '../../server/app-adapters/ai-sdk/index.js';
import { createGateway, defineApp, method, tool } from '../../server/index.js';
import { post, startGateway } from '../support/gateway.js';
import { postStream } from '../support/sse-client.js';

const handler = (input: unknown) => JSON.stringify(input);
const RAW = { a: z.string() };
const run = () => {};
// As JavaScript has it: the types refuse what this page declares.
const anyTool = tool as (definition: unknown) => any;
const define = defineApp as (definition?: unknown) => any;

const messageOf = (declare: () => unknown): string => {
  try {
    declare();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was refused';
};

describe('what an app declares', () => {
  const wrong: Record<string, [unknown, RegExp]> = {
    'a tool with a raw shape': [
      { run, tools: { find: anyTool({ schema: RAW, handler }) } },
      /^tools\.find\.schema: .*a raw shape; wrap it in z\.object\(\)/,
    ],
    'a tool of the client with a raw shape': [
      { run, tools: { find: anyTool({ schema: RAW, runsOn: 'client' }) } },
      /^tools\.find\.schema: .*a raw shape/,
    ],
    'a tool whose JSON Schema is none': [
      { run, tools: { find: anyTool({ schema: { type: 'objekt' }, handler }) } },
      /^tools\.find\.schema: must be a JSON Schema: type/,
    ],
    'a tool without a handler': [
      { run, tools: { find: anyTool({ schema: z.object(RAW) }) } },
      /^tools\.find\.handler: must be a function/,
    ],
    'a tool whose schema has another name': [
      { run, tools: { find: anyTool({ inputSchema: z.object(RAW), handler }) } },
      /^tools\.find\.inputSchema: unknown field/,
    ],
    'a tool that is none': [{ run, tools: { find: handler } }, /^tools\.find: must be a tool/],
    'a question with a raw shape': [
      { run, questions: { day: RAW } },
      /^questions\.day: .*a raw shape; wrap it/,
    ],
    'a data block with a raw shape': [{ run, data: { row: RAW } }, /^data\.row: .*a raw shape; wrap it/],
    'no run': [{ rn: run }, /^run: an app needs a run function/],
    'suggestions that are no list': [
      { run, suggestions: 'Hello' },
      /^suggestions: must be an array of texts/,
    ],
    'a suggestion without a text': [
      { run, suggestions: ['Hello', { shows: 'x' }] },
      /^suggestions\.1: must be a text/,
    ],
    'nothing at all': [undefined, /^run: an app needs a run function/],
  };
  for (const [what, [definition, message]] of Object.entries(wrong))
    it(`is refused by name: ${what}`, () => {
      expect(messageOf(() => define(definition))).to.match(message);
    });

  it('is refused by a gateway too, for an app that defineApp did not make', () => {
    const app = { run, tools: { find: anyTool({ schema: RAW, handler }) } };
    expect(messageOf(() => createGateway({ apps: { main: app }, defaultApp: 'main' }))).to.match(
      /apps\.main\.tools\.find\.schema: .*a raw shape/,
    );
  });

  it('is refused by adapters, whose tools are declared in the same way', () => {
    const tools = { find: anyTool({ schema: RAW, handler }) };
    const model = {} as never;
    for (const make of [
      () => aiSdkApp({ model }, { tools }),
      () => agentsApp({ agent: new Agent({ name: 'a' }), tools }),
    ])
      expect(messageOf(make)).to.match(/^tools\.find\.schema: .*a raw shape/);
  });

  it('is refused in methods, channels and events with the same words', () => {
    const app = defineApp({ run });
    for (const config of [
      { app, methods: { find: (method as (definition: unknown) => never)({ schema: RAW, handler }) } },
      { app, channels: { news: RAW as never } },
      { app, events: { news: RAW as never } },
    ])
      expect(messageOf(() => createGateway(config))).to.match(/a raw shape; wrap it in z\.object\(\)/);
  });

  it('takes a tool that is a plain object, and checks its input', async () => {
    const find = { schema: z.object(RAW), handler } as never;
    const app = defineApp({
      tools: { find },
      run: async (turn) => String(await turn.callTool('find' as never, { a: 'x', b: 1 } as never)),
    });
    const { url } = await startGateway({ app });
    const stream = await postStream(`${url}/send`, { sessionId: 'main', message: 'hi' });
    await stream.ended;
    expect(stream.events.find(({ event }) => event === 'tool_result')!.data.output).to.equal('{"a":"x"}');
  });

  it('is checked for a question with a schema of its own, before anybody is asked', async () => {
    const app = defineApp({
      run: async (turn) => String(await turn.ask({ name: 'day', schema: RAW as never })),
    });
    const { url } = await startGateway({ app });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect(body.error).to.include({ code: 'INVALID_PARAMS' });
    expect(body.error.message).to.match(/^ask\.day\.schema: .*a raw shape; wrap it in z\.object\(\)/);
  });
});
