import { expect } from 'chai';
import { type AuthConfig, defineApp, type GatewayConfig, tool } from '../../server/index.js';
import { type McpServerPluginOptions, mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { initialize, postMcp } from '../plugins/mcp/mcp-clients.js';
import { startGateway } from '../support/gateway.js';
import { as } from '../support/users.js';

const tools = {
  whoami: tool({ handler: (_input, { user }) => `you are ${user?.id}` }),
  hidden: tool({ handler: () => 'a secret' }),
};
const app = defineApp({ tools, run: async () => 'x' });
let roles: readonly string[] = [];
const auth: AuthConfig = {
  type: 'custom',
  cookies: false,
  validate: (token) =>
    token === undefined
      ? { valid: false }
      : { valid: true, user: { id: token, roles: token === 'alice' ? roles : [] } },
};

async function start(
  options: Partial<McpServerPluginOptions> = {},
  config: GatewayConfig<any, any, any> = {},
) {
  const { gateway, url } = await startGateway({ app, auth, ...config });
  gateway.use(mcpServerPlugin({ sessionId: 'main', ...options }));
  const rpc = (name: string, method: string, params: object, session?: string, id: unknown = 1) =>
    postMcp(
      `${url}/mcp`,
      { jsonrpc: '2.0', id, method, params },
      {
        ...as(name),
        ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
      },
    );
  const open = (name: string): Promise<string> => initialize(`${url}/mcp`, as(name));
  const call = (name: string, session: string, toolName: string, id: unknown = 1) =>
    rpc(name, 'tools/call', { name: toolName, arguments: {} }, session, id);
  return { url, rpc, open, call };
}

describe('row 30: MCP clients', () => {
  it('with the same request ids get their own answers', async () => {
    const { open, call } = await start();
    const [alice, bob] = await Promise.all([open('alice'), open('bob')]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const name = n % 2 ? 'alice' : 'bob';
        return [name, await (await call(name, n % 2 ? alice! : bob!, 'whoami', 7)).text()] as const;
      }),
    );
    for (const [name, text] of answers) expect(text).to.include(`you are ${name}`);
  });

  it('have sessions that are nobody else’s: on POST, GET and DELETE another user finds none', async () => {
    const { url, open, call } = await start();
    const session = await open('alice');
    expect(session.length).to.be.at.least(32);
    const headers = { ...as('bob'), 'mcp-session-id': session, accept: 'text/event-stream' };
    expect((await call('bob', session, 'whoami')).status).to.equal(404);
    expect((await fetch(`${url}/mcp`, { headers })).status).to.equal(404);
    expect((await fetch(`${url}/mcp`, { method: 'DELETE', headers })).status).to.equal(404);
    expect((await call('alice', session, 'whoami')).status).to.equal(200);
  });

  it('cannot call what they are not shown', async () => {
    const { open, call, rpc } = await start({ exclude: ['hidden'] });
    const session = await open('alice');
    expect(await (await rpc('alice', 'tools/list', {}, session)).text()).not.to.include('hidden');
    expect(await (await call('alice', session, 'hidden')).text())
      .to.include('Unknown tool')
      .and.not.include('a secret');
  });

  it('lose a tool with the role that the filter gave it for, in the session they have', async () => {
    roles = ['staff'];
    const { open, call, rpc } = await start({
      toolFilter: (all, _request, { user }) =>
        user.roles?.includes('staff') ? all : all.filter((it) => it.name !== 'hidden'),
    });
    const session = await open('alice');
    expect(await (await call('alice', session, 'hidden')).text()).to.include('a secret');
    roles = [];
    expect(await (await call('alice', session, 'hidden')).text())
      .to.include('Unknown tool')
      .and.not.include('a secret');
    expect(await (await rpc('alice', 'tools/list', {}, session)).text()).not.to.include('hidden');
    roles = ['staff'];
    expect(await (await call('alice', session, 'hidden')).text()).to.include('a secret');
  });

  it('have a bounded number of sessions', async () => {
    const { open, rpc } = await start({ limits: { sessionsPerUser: 1 } });
    const session = await open('alice');
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    expect((await rpc('alice', 'initialize', initialize)).status).to.equal(200);
    expect((await rpc('alice', 'tools/list', {}, session)).status).to.equal(404);
    expect((await rpc('bob', 'initialize', initialize)).status).to.equal(200);
  });
});
