import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { createInProcessTransport, defineApp, type Gateway, tool } from '../../server/index.js';
import { agUiPlugin } from '../../server/plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { langGraphPlugin } from '../../server/plugins/langgraph/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../server/plugins/ui-message-stream/index.js';
import type { ContentBlock } from '../../shared/messages.js';
import { initialize } from '../plugins/mcp/mcp-clients.js';
import { jsonHeaders, startGateway } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';

const deep = (levels: number): unknown => (levels === 0 ? 'deep' : { d: [deep(levels - 2)] });
/** Data whose keys have names that JavaScript itself uses. */
const DATA = {
  prototype: 'int f(int)',
  constructor: 'Ferrari',
  toString: 'x',
  hasOwnProperty: 1,
  valueOf: null,
  a: [{ constructor: { name: 'x' } }],
  deep: deep(20),
};
const TEXT = JSON.stringify(DATA);
/** The two keys that are refused. */
const REFUSED = [
  ['__proto__', '{"a":[{"__proto__":{"admin":true}}]}'],
  ['constructor', '{"a":[{"constructor":{"prototype":{"admin":true}}}]}'],
] as const;

/** What the app got: the call of a conversation that a client brought, or a value. */
const heard: unknown[] = [];
const app = defineApp({
  tools: { look: tool({ handler: (input: unknown) => input }) },
  async *run(turn) {
    const blocks: ContentBlock[] = [...turn.history, turn.message].flatMap(({ content }) => [...content]);
    for (const block of blocks) {
      if (block.type === 'tool_use') heard.push(block.input);
      if (block.type === 'data') heard.push(block.value);
    }
    heard.push(turn.message.metadata, turn.metadata, (turn.parameters.state as { notes?: unknown })?.notes);
    yield 'said';
  },
});

async function start() {
  heard.length = 0;
  const { gateway, url } = await startGateway({
    app,
    methods: { echo: (params: unknown) => params },
    auth: { type: 'none' },
    clientMessages: { import: true, tools: true, parameters: true },
  });
  for (const plugin of [
    mcpServerPlugin({ sessionId: 'main' }),
    chatCompletionsPlugin(),
    responsesPlugin(),
    uiMessageStreamPlugin(),
    agUiPlugin(),
    langGraphPlugin(),
  ])
    gateway.use(plugin);
  const ask = async (path: string, body: string, headers = {}) => {
    const answer = await fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { ...jsonHeaders(), accept: 'application/json, text/event-stream', ...headers },
      body,
    });
    return { status: answer.status, text: await answer.text() };
  };
  return { gateway, url, ask };
}

const call = (text: string) => ({ id: 'c1', type: 'function', function: { name: 'look', arguments: text } });
const user = { role: 'user', content: 'hi' };

/** The requests of other protocols that carry data, by where it stands: as JSON, or as JSON in a text. */
const DOORS: Readonly<Record<string, readonly [path: string, body: (json: string) => string]>> = {
  'arguments of completions': [
    'v1/chat/completions',
    (json) =>
      JSON.stringify({
        model: 'default',
        messages: [
          user,
          { role: 'assistant', tool_calls: [call(json)] },
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
          user,
        ],
      }),
  ],
  'arguments of Responses': [
    'v1/responses',
    (json) =>
      JSON.stringify({
        model: 'default',
        input: [
          user,
          { type: 'function_call', call_id: 'c1', name: 'look', arguments: json },
          { type: 'function_call_output', call_id: 'c1', output: 'x' },
          user,
        ],
      }),
  ],
  'metadata of messages of useChat': [
    'api/chat',
    (json) =>
      `{"id":"ui","trigger":"submit-message","messages":[{"id":"u1","role":"user","metadata":${json},"parts":[{"type":"text","text":"x"}]}]}`,
  ],
  'input of tools of useChat': [
    'api/chat',
    (json) =>
      `{"id":"uj","trigger":"submit-message","messages":[${JSON.stringify({ id: 'u0', ...user, content: undefined, parts: [{ type: 'text', text: 'a' }] })},{"id":"a1","role":"assistant","parts":[{"type":"tool-look","toolCallId":"c1","state":"output-available","input":${json},"output":1}]},{"id":"u1","role":"user","parts":[{"type":"text","text":"x"}]}]}`,
  ],
  'arguments of AG-UI': [
    'ag-ui/agent/default/run',
    (json) =>
      JSON.stringify({
        ...{ threadId: 't', runId: 'r', state: {}, tools: [], context: [], forwardedProps: {} },
        messages: [
          { id: 'u0', ...user },
          { id: 'a1', role: 'assistant', toolCalls: [call(json)] },
          { id: 'r1', role: 'tool', toolCallId: 'c1', content: 'x' },
          { id: 'u1', ...user },
        ],
      }),
  ],
  'state of LangGraph': [
    'langgraph/threads/lg/runs/wait',
    (json) =>
      `{"assistant_id":"default","if_not_exists":"create","input":{"notes":${json},"messages":[{"type":"human","content":"a"}]}}`,
  ],
  'metadata of LangGraph': [
    'langgraph/threads/lh/runs/wait',
    (json) =>
      `{"assistant_id":"default","if_not_exists":"create","metadata":${json},"input":{"messages":[{"type":"human","content":"a"}]}}`,
  ],
  'metadata of a message': [
    'send',
    (json) => `{"sessionId":"m","message":{"content":"x","metadata":${json}}}`,
  ],
  'metadata of a run': ['send', (json) => `{"sessionId":"n","message":"x","metadata":${json}}`],
  'an imported call': [
    'import',
    (json) =>
      `{"sessionId":"i","messages":[{"role":"assistant","content":[{"type":"tool_use","callId":"c","name":"look","input":${json}},{"type":"tool_result","callId":"c","name":"look","output":1,"isError":false}]}]}`,
  ],
  'an imported call of OpenAI': [
    'import',
    (json) =>
      JSON.stringify({
        ...{ sessionId: 'j', format: 'openai' },
        messages: [
          { role: 'assistant', tool_calls: [call(json)] },
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
        ],
      }),
  ],
  'arguments of MCP': [
    'mcp',
    (json) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":${json}}}`,
  ],
};

/** A client session of MCP, where that is the door. */
const headersOf = async (path: string, url: string): Promise<Record<string, string>> =>
  path === 'mcp'
    ? { 'mcp-session-id': await initialize(`${url}/mcp`, {}), 'mcp-protocol-version': '2025-11-25' }
    : {};

/** Whether a body has the data as a text. */
const isText = (body: (json: string) => string): boolean => !body('{"a":1}').includes('{"a":1}');

/** The inputs of the calls in an imported session. */
async function callsOf(gateway: Gateway<any, any, any>, imported: string): Promise<unknown[]> {
  const { messages } = await gateway.session(JSON.parse(imported).sessionId).history();
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => ('input' in block ? [block.input] : [])),
  );
}

describe('threat row 15, at every door', () => {
  for (const [what, [path, body]] of Object.entries(DOORS)) {
    it(`${what}: data goes in as it is`, async () => {
      const { ask, gateway, url } = await start();
      const headers = await headersOf(path, url);
      const { status, text } = await ask(path, body(TEXT), headers);
      expect(status, text).to.be.oneOf([200, 202]);
      if (path === 'mcp') return void expect(text).to.include(JSON.stringify(TEXT).slice(1, -1));
      if (path === 'import') heard.push(...(await callsOf(gateway, text)));
      expect(heard.map((value) => JSON.stringify(value))).to.include(TEXT);
    });

    for (const [key, json] of REFUSED)
      it(`${what}: an own ${key} is no key of anything`, async () => {
        const { ask, gateway, url } = await start();
        const headers = await headersOf(path, url);
        const { status, text } = await ask(path, body(json), headers);
        if (isText(body)) {
          // A model may have written it: it stays the text that it was.
          expect(status, text).to.equal(200);
          if (path === 'import') heard.push(...(await callsOf(gateway, text)));
          expect(heard).to.include(json);
        } else {
          expect(status, text).to.equal(400);
          expect(heard).to.deep.equal([]);
        }
        expect(({} as { admin?: unknown }).admin).to.equal(undefined);
      });
  }

  it('in this process, and in queries', async () => {
    const { gateway, url } = await start();
    const client = createClient<any>({
      transport: createInProcessTransport(gateway, { user: { id: 'ann' } }),
    });
    closeLater(client, (it) => it.disconnect());
    expect(await client.invoke('echo', DATA)).to.deep.equal(DATA);
    await client.send('main', 'x', { metadata: DATA } as never).result;
    expect(heard.map((value) => JSON.stringify(value))).to.include(TEXT);
    await client.session('main').update({ metadata: DATA } as never);
    const { sessions } = await client.sessions();
    expect(sessions[0]?.metadata).to.deep.equal(DATA);
    for (const key of ['__proto__', 'constructor', 'prototype', '__proto__[a]']) {
      const answer = await fetch(`${url}/status?${encodeURIComponent(key)}=1`);
      const { error } = (await answer.json()) as any;
      expect([answer.status, error.code], key).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(error.details, key).to.deep.include({ path: key, message: 'unknown field' });
    }
  });
});
