import { expect } from 'chai';
import { SignJWT } from 'jose';
import { defineApp, tool } from '../../../server/index.js';
import { mcpServerPlugin } from '../../../server/plugins/mcp/index.js';
import { LIST, startMcp } from './mcp-clients.js';

const SECRET = 'a-secret-of-the-tests-of-at-least-32-bytes';
const resource = 'https://tools.example/agent/mcp';
const signIn = {
  resource,
  authorizationServers: ['https://login.example'],
  scopes: ['tools:call', 'tools:list'],
};
const METADATA = 'https://tools.example/agent/.well-known/oauth-protected-resource/mcp';
const app = defineApp({ run: () => 'unused', tools: { look: tool({ handler: () => 'seen' }) } });
const auth = { type: 'jwt', secret: SECRET, audience: resource } as const;

const tokenOf = (claims: Record<string, unknown>, audience = resource): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('ann')
    .setAudience(audience)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET));

const ask = (url: string, token?: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(LIST),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  });

describe('an MCP endpoint with a place to sign in', () => {
  it('says where that is, to anybody', async () => {
    const { base } = await startMcp({ app, auth }, { signIn });
    const path = '/.well-known/oauth-protected-resource/mcp';
    const response = await fetch(`${base}${path}`);
    expect([response.status, await response.json()]).to.deep.equal([
      200,
      {
        resource,
        authorization_servers: ['https://login.example'],
        scopes_supported: ['tools:call', 'tools:list'],
        bearer_methods_supported: ['header'],
      },
    ]);
    expect((await fetch(`${base}${path}/more`)).status).to.equal(404);
    expect((await fetch(`${base}${path}`, { method: 'POST' })).status).to.equal(405);
  });

  it('names it where a token is missing, bad, or for another endpoint', async () => {
    const { url } = await startMcp({ app, auth }, { signIn });
    const rest = `resource_metadata="${METADATA}", scope="tools:call tools:list"`;
    const cases = [
      [undefined, `Bearer ${rest}`],
      ['no-token', `Bearer error="invalid_token", ${rest}`],
      [
        await tokenOf({ scope: 'tools:call tools:list' }, 'https://other.example'),
        `Bearer error="invalid_token", ${rest}`,
      ],
    ] as const;
    for (const [token, challenge] of cases) {
      const response = await ask(url, token);
      expect([response.status, response.headers.get('www-authenticate')]).to.deep.equal([401, challenge]);
    }
  });

  it('asks for the scopes that a token lacks, however it says them', async () => {
    const { url } = await startMcp({ app, auth }, { signIn });
    const lacking = [
      {},
      { scope: 'tools:call' },
      { scope: 'tools:callx tools:list' },
      { scp: ['tools:list'] },
      { scope: 5 },
    ];
    for (const claims of lacking) {
      const response = await ask(url, await tokenOf(claims));
      expect(response.status, JSON.stringify(claims)).to.equal(403);
      expect(response.headers.get('www-authenticate')).to.equal(
        `Bearer error="insufficient_scope", resource_metadata="${METADATA}", scope="tools:call tools:list"`,
      );
      expect(await response.text()).to.not.contain('look');
    }
    const enough = [
      { scope: 'more tools:list tools:call' },
      { scp: ['tools:call', 'tools:list'] },
      { scp: 'tools:call tools:list' },
      { scope: 'tools:call', scp: ['tools:list'] },
    ];
    // It has no client session: its token is good.
    for (const claims of enough)
      expect((await ask(url, await tokenOf(claims))).status, JSON.stringify(claims)).to.equal(400);
  });

  it('is as before without one', async () => {
    const { url, base } = await startMcp({ app, auth });
    expect((await ask(url)).headers.get('www-authenticate')).to.equal('Bearer');
    expect((await fetch(`${base}/.well-known/oauth-protected-resource/mcp`)).status).to.equal(404);
  });

  it('needs addresses that can be told', () => {
    const wrong = [
      { ...signIn, resource: 'https://tools.example/other' },
      { ...signIn, resource: 'tools.example/mcp' },
      { ...signIn, resource: 'https://tools.example/"/mcp' },
      { ...signIn, authorizationServers: [] },
      { ...signIn, authorizationServers: ['ftp://login.example'] },
      { ...signIn, scopes: ['a b'] },
      { ...signIn, scopes: ['a"'] },
    ];
    for (const options of wrong)
      expect(() => mcpServerPlugin({ sessionId: 'main', signIn: options }), JSON.stringify(options)).to.throw(
        /signIn/,
      );
  });
});
