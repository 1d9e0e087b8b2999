import { expect } from 'chai';
import OpenAI from 'openai';
import { defineApp, type Turn } from '../../server/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { Balancer } from '../support/balancer.js';
import { get } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNodes } from '../support/nodes.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';

const call = (turn: Turn, name: string, input: unknown): Promise<unknown> =>
  turn.callTool(name as never, input as never);

/** Asks its caller's tool twice, one after the other. */
function asking() {
  const ends: string[] = [];
  const app = defineApp({
    resumable: true,
    async *run(turn: Turn) {
      turn.signal.addEventListener('abort', () => ends.push('aborted'));
      const first = await call(turn, 'weather', { city: 'Paris' });
      const second = await call(turn, 'weather', { city: 'Rome' });
      yield `Paris: ${first}, Rome: ${second}`;
    },
  });
  return { app, ends };
}

const TOOL = { name: 'weather', parameters: { type: 'object', properties: {} } };
const CHAT_TOOLS = [{ type: 'function', function: TOOL }];

interface Asked {
  readonly messages: object[];
  readonly calls: readonly { readonly id: string }[];
  readonly text: string | null;
}

async function complete(
  { url }: Node,
  messages: readonly object[],
  { user = 'alice', session }: { readonly user?: string; readonly session?: string } = {},
): Promise<Asked & { readonly status: number }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...as(user),
      'content-type': 'application/json',
      ...(session !== undefined && { 'x-session-id': session }),
    },
    body: JSON.stringify({ model: 'default', messages, tools: CHAT_TOOLS }),
  });
  const body: any = await response.json();
  const said = body.choices?.[0].message;
  return {
    status: response.status,
    messages: said ? [...messages, said] : [...messages],
    calls: said?.tool_calls ?? [],
    text: said?.content ?? null,
  };
}

const answered = ({ messages, calls }: Asked, content: string): object[] => [
  ...messages,
  ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content })),
];

const sessionsOf = async ({ url }: Node): Promise<string[]> =>
  (await get(`${url}/sessions`, as('alice'))).body.sessions.map((session: any) => session.sessionId);

const BEGIN = [{ role: 'user', content: 'Weather?' }];

async function startChat(toolWaitMs?: number) {
  const { app, ends } = asking();
  const nodes = await startNodes(new MemoryHub(), { app, auth: byName });
  const options = toolWaitMs === undefined ? {} : { toolWaitMs };
  for (const { gateway } of nodes) gateway.use(chatCompletionsPlugin(options));
  return { nodes: nodes as readonly [Node, Node, Node], ends };
}

describe('chat completions of gateways that share a store', () => {
  for (const session of [undefined, 'named'])
    it(`go on where the results of tools are brought, each at another gateway: ${session ?? 'without a session'}`, async () => {
      const { nodes, ends } = await startChat();
      const of = session === undefined ? {} : { session };
      const first = await complete(nodes[0], BEGIN, of);
      expect(first.calls).to.have.length(1);
      const second = await complete(nodes[1], answered(first, 'sunny'), of);
      expect(second.calls).to.have.length(1);
      const last = await complete(nodes[2], answered(second, 'rainy'), of);
      expect(last.text).to.equal('Paris: "sunny", Rome: "rainy"'.replaceAll('"', ''));
      expect(await sessionsOf(nodes[0])).to.deep.equal(session === undefined ? [] : [session]);
      expect(ends).to.deep.equal([]);
    });

  it('are their own caller’s alone, and go on once', async () => {
    const { nodes } = await startChat();
    const first = await complete(nodes[0], BEGIN);
    const results = answered(first, 'sunny');
    const foreign = await complete(nodes[1], results, { user: 'bob' });
    // To him the calls are unknown: it is a conversation that he begins.
    expect(foreign.calls.map(({ id }) => id)).to.not.deep.equal(first.calls.map(({ id }) => id));
    const both = await Promise.all([complete(nodes[1], results), complete(nodes[2], results)]);
    const asked = both.map(({ calls }) => calls[0]?.id);
    expect(new Set(asked).size).to.equal(2);
  });

  it('are not ended by the gateway they began at when they went on elsewhere', async () => {
    const { nodes, ends } = await startChat(500);
    const first = await complete(nodes[0], BEGIN);
    const second = await complete(nodes[1], answered(first, 'sunny'));
    // What began last is ended last.
    const other = await complete(nodes[0], BEGIN, { user: 'bob' });
    expect(other.calls).to.have.length(1);
    const last = complete(nodes[2], answered(second, 'rainy'));
    expect((await last).text).to.equal('Paris: sunny, Rome: rainy');
    await until(() => ends.length === 1);
    expect(await sessionsOf(nodes[0])).to.deep.equal([]);
  });

  it('are ended by another gateway where nobody comes back and theirs has ended', async () => {
    const { nodes, ends } = await startChat(500);
    const first = await complete(nodes[0], BEGIN);
    expect(first.calls).to.have.length(1);
    await nodes[0].gateway.close();
    expect(await sessionsOf(nodes[1])).to.have.length(1);
    while ((await sessionsOf(nodes[1])).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ends).to.have.length.above(0);
  });
});

describe('responses of gateways that share a store', () => {
  async function start(toolWaitMs?: number) {
    const { app, ends } = asking();
    const nodes = await startNodes(new MemoryHub(), { app, auth: byName });
    const options = toolWaitMs === undefined ? {} : { toolWaitMs };
    for (const { gateway } of nodes) gateway.use(responsesPlugin(options));
    const balancer = await Balancer.start(
      nodes.map(({ url }) => url),
      5,
    );
    const client = new OpenAI({ baseURL: `${balancer.url}/v1`, apiKey: 'alice', maxRetries: 0 });
    return { nodes: nodes as readonly [Node, Node, Node], ends, client };
  }
  const tools = [{ type: 'function', ...TOOL, strict: false }] as never;

  for (const store of [true, false])
    it(`go on at any of them, ${store ? 'stored' : 'not stored'}`, async () => {
      const { client, nodes, ends } = await start();
      for (let n = 0; n < 4; n++) {
        let input: any[] = [{ role: 'user', content: 'Weather?' }];
        let response = await client.responses.create({ model: 'default', input, tools, store });
        for (const output of ['sunny', 'rainy']) {
          const asked = response.output.find(({ type }) => type === 'function_call') as any;
          const results = [{ type: 'function_call_output', call_id: asked.call_id, output }];
          input = store ? results : [...input, asked, ...results];
          response = await client.responses.create({
            ...{ model: 'default', input, tools, store },
            ...(store && { previous_response_id: response.id }),
          });
        }
        expect(response.output_text).to.equal('Paris: sunny, Rome: rainy');
      }
      expect(await sessionsOf(nodes[0])).to.have.length(store ? 4 : 0);
      expect(ends).to.deep.equal([]);
    });

  it('are of conversations that were created at any of them', async () => {
    const { client } = await start();
    const { id } = await client.conversations.create({ metadata: { topic: 'weather' } });
    for (let n = 0; n < 6; n++)
      expect((await client.conversations.retrieve(id)).metadata).to.deep.equal({ topic: 'weather' });
    const response = await client.responses.create({
      ...{ model: 'default', input: 'Weather?', tools, conversation: id },
    });
    expect(response.output.map(({ type }) => type)).to.deep.equal(['function_call']);
    expect((await client.conversations.retrieve(id)).metadata).to.deep.equal({ topic: 'weather' });
  });

  it('are begun once where a client tries again at another one', async () => {
    const { nodes } = await start();
    const post = async ({ url }: Node, count: number) => {
      const response = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: {
          ...as('alice'),
          'content-type': 'application/json',
          'x-stainless-retry-count': String(count),
        },
        body: JSON.stringify({ model: 'default', input: 'Weather?', tools }),
      });
      return (await response.json()).id;
    };
    const id = await post(nodes[0], 0);
    expect(await post(nodes[1], 1)).to.equal(id);
    expect(await sessionsOf(nodes[2])).to.have.length(1);
  });
});
