import { expect } from 'chai';
import { type ToolContext, tool } from '../../server/index.js';
import { type McpServerPluginOptions, mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { CLIENTS, call, initialize, LIST, postMcp } from '../plugins/mcp/mcp-clients.js';
import { heldTool } from '../plugins/mcp/offered-tools.js';
import { Balancer } from '../support/balancer.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNodes } from '../support/nodes.js';
import { as, byName } from '../support/users.js';

/** Calls that say where they run, and one that runs until it is let go. */
const tools = () =>
  heldTool({
    who: tool({ handler: (_input: unknown, { user }: ToolContext) => user!.id }),
    sure: tool({ confirm: true, handler: () => 'sure' }),
  });

async function startMcp(
  app: ReturnType<typeof tools>['app'],
  options: Partial<McpServerPluginOptions> = {},
  count = 3,
): Promise<readonly (Node & { readonly mcp: string })[]> {
  const nodes = await startNodes(new MemoryHub(), { app, auth: byName, limits: { storeMs: 60_000 } }, count);
  for (const { gateway } of nodes) gateway.use(mcpServerPlugin({ sessionId: 'main', ...options }));
  return nodes.map((node) => ({ ...node, mcp: `${node.url}/mcp` }));
}

describe('MCP clients of gateways that share a store', () => {
  for (const { name, connect } of CLIENTS)
    it(`go on with their session at any of them: ${name}`, async () => {
      const nodes = await startMcp(tools().app);
      const balancer = await Balancer.start(
        nodes.map(({ url }) => url),
        7,
      );
      const client = await connect(`${balancer.url}/mcp`, as('alice'));
      for (let n = 0; n < 12; n++) {
        const { content } = await client.call('who');
        expect(content[0].text).to.equal('alice');
      }
      expect(await client.tools()).to.have.length(3);
    });

  for (const { name, connect } of CLIENTS)
    it(`are asked by the gateway that runs their call, and answer at any: ${name}`, async () => {
      const nodes = await startMcp(tools().app);
      const balancer = await Balancer.start(
        nodes.map(({ url }) => url),
        11,
      );
      const client = await connect(`${balancer.url}/mcp`, as('alice'), async () => ({
        action: 'accept',
        content: { approve: true },
      }));
      // Each gateway asks its first question as well.
      const calls = Array.from({ length: 12 }, () => client.call('sure'));
      for (const { content } of await Promise.all(calls)) expect(content[0].text).to.equal('sure');
    });

  it('are each found by their own user alone, and by nobody once they have ended', async () => {
    const nodes = await startMcp(tools().app);
    const id = await initialize(nodes[0]!.mcp);
    const session = { 'mcp-session-id': id };
    const statusAt = async ({ mcp }: { readonly mcp: string }, headers: Record<string, string> = {}) => {
      const answer = await postMcp(mcp, LIST, { ...session, ...headers });
      await answer.text();
      return answer.status;
    };
    expect(await statusAt(nodes[1]!, as('bob'))).to.equal(404);
    expect(await statusAt(nodes[1]!)).to.equal(200);
    expect(await statusAt(nodes[1]!, as('bob'))).to.equal(404);
    const end = await fetch(nodes[2]!.mcp, { method: 'DELETE', headers: { ...as('alice'), ...session } });
    expect(end.status).to.equal(200);
    for (const node of nodes) expect(await statusAt(node)).to.equal(404);
  });

  it('outlive the gateway that began them', async () => {
    const nodes = await startMcp(tools().app);
    const id = await initialize(nodes[0]!.mcp);
    await nodes[0]!.gateway.close();
    const answer = await postMcp(nodes[1]!.mcp, LIST, { 'mcp-session-id': id });
    expect(answer.status).to.equal(200);
    await answer.text();
  });

  it('cancel a call that runs at another one', async () => {
    const { app, began, aborted } = tools();
    const nodes = await startMcp(app, {}, 2);
    const session = { 'mcp-session-id': await initialize(nodes[0]!.mcp) };
    const pending = await postMcp(nodes[0]!.mcp, call('held'), session);
    await began.passed;
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
    expect((await postMcp(nodes[1]!.mcp, cancel, session)).status).to.equal(202);
    await aborted.passed;
    expect(await pending.text(), 'its stream ends').not.to.include('"id":3');
  });

  it('keep a session that one of them uses, though it made room for another one elsewhere', async () => {
    const { app, began, held } = tools();
    const nodes = await startMcp(app, { limits: { sessionsPerUser: 1 } }, 2);
    const [one, two] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
    const first = await initialize(one.mcp);
    const pending = await postMcp(two.mcp, call('held'), { 'mcp-session-id': first });
    await began.passed;
    await initialize(one.mcp);
    held.open('done');
    expect(await pending.text()).to.include('done');
    expect((await postMcp(two.mcp, LIST, { 'mcp-session-id': first })).status).to.equal(200);
  });

  it('are told that a stream of another one cannot be resumed, whose call goes on', async () => {
    const { app, began, held } = tools();
    const nodes = await startMcp(app, {}, 2);
    const session = {
      'mcp-session-id': await initialize(nodes[0]!.mcp),
      'mcp-protocol-version': '2025-11-25',
    };
    const cut = await postMcp(nodes[0]!.mcp, call('held'), session);
    const reader = cut.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    const lastId = /^id: (.+)$/m.exec(first)![1]!;
    await began.passed;
    await reader.cancel();
    const headers = { ...as('alice'), ...session, accept: 'text/event-stream', 'last-event-id': lastId };
    const elsewhere = await fetch(nodes[1]!.mcp, { headers });
    expect(elsewhere.status).to.equal(400);
    await elsewhere.text();
    held.open('kept');
    let resumed = await fetch(nodes[0]!.mcp, { headers });
    while (resumed.status === 409) resumed = await fetch(nodes[0]!.mcp, { headers });
    expect(await resumed.text()).to.include('kept');
  });
});
