import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createGateway, GatewayError } from '../../../server/index.js';
import { type McpServerPluginOptions, mcpServerPlugin } from '../../../server/plugins/mcp/index.js';
import { head, rawRequest } from '../../support/raw-http.js';
import { as } from '../../support/users.js';
import { conformanceApp } from './conformance-app.js';
import { abc } from './letter-app.js';
import { CLIENTS, INITIALIZE, initialize, postMcp, startMcp } from './mcp-clients.js';

describe('access to mcpServerPlugin', () => {
  it('needs authentication on every request, before anything else', async () => {
    const { url } = await startMcp({ app: abc });
    const id = await initialize(url);
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await fetch(url, {
        method,
        headers: { ...as('bad'), 'mcp-session-id': id, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: 'no json' }),
      });
      expect(answer.status, method).to.equal(401);
      expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
    }
    expect((await postMcp(url, INITIALIZE, { authorization: '' })).status).to.equal(401);
  });

  it('is for its own page and for origins that are listed', async () => {
    const { url } = await startMcp({ app: abc, origins: ['https://inspector.test'] });
    for (const origin of ['null', 'https://evil.test', 'nonsense']) {
      const answer = await postMcp(url, INITIALIZE, { origin });
      expect(answer.status, origin).to.equal(403);
    }
    for (const origin of ['https://inspector.test', new URL(url).origin])
      expect((await postMcp(url, INITIALIZE, { origin })).status, origin).to.equal(200);
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://inspector.test',
        'access-control-request-method': 'DELETE',
        'access-control-request-headers': 'mcp-session-id',
      },
    });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('access-control-allow-methods')).to.include('DELETE');
    expect(preflight.headers.get('access-control-allow-headers')).to.include('mcp-session-id');
    const answer = await postMcp(url, INITIALIZE, { origin: 'https://inspector.test' });
    expect(answer.headers.get('access-control-allow-origin')).to.equal('https://inspector.test');
    expect(answer.headers.get('access-control-expose-headers')).to.match(/mcp-session-id/i);
  });

  it('is not for names that were rebound to this machine', async () => {
    const { url } = await startMcp({ app: abc, auth: { type: 'none' } });
    const body = JSON.stringify(INITIALIZE);
    const ask = (host: string) =>
      rawRequest(
        url,
        head('POST /mcp', {
          Host: host,
          Accept: 'application/json, text/event-stream',
          'Content-Type': 'application/json',
          'Content-Length': String(body.length),
        }),
        body,
      );
    expect((await ask('rebound.test')).status).to.equal(403);
  });

  it('answers what is no request in the protocol’s own form', async () => {
    const { url } = await startMcp({ app: abc, limits: { bodyBytes: 2000, conversationBytes: 2000 } });
    const broken = await postMcp(url, '{"jsonrpc":');
    expect(broken.status).to.equal(400);
    expect(await broken.json())
      .to.deep.include({ jsonrpc: '2.0', id: null })
      .and.nested.include({ 'error.code': -32700 });
    const large = await postMcp(url, { ...INITIALIZE, padding: 'x'.repeat(3000) });
    expect(large.status).to.equal(413);
    expect((await large.json()).error.code).to.equal(-32000);
    const typed = await postMcp(url, 'hello', { 'content-type': 'text/plain' });
    expect(typed.status).to.equal(415);
    const put = await fetch(url, { method: 'PUT', headers: as('alice') });
    expect(put.status).to.equal(405);
    expect(put.headers.get('allow')).to.equal('GET, POST, DELETE');
    expect((await postMcp(`${url}/below`, INITIALIZE)).status).to.equal(404);
    expect((await postMcp(`${url}/`, INITIALIZE)).status).to.equal(200);
  });
});

for (const { name, sessions, connect } of CLIENTS) {
  describe(`the tools that mcpServerPlugin exposes to ${name}`, () => {
    const exposed = async (options: Partial<McpServerPluginOptions>, headers?: Record<string, string>) => {
      const started = await startMcp({ app: abc }, options);
      const client = await connect(started.url, headers);
      const names = (await client.tools()).map((it: { name: string }) => it.name);
      for (const tool of ['a', 'b', 'c']) {
        const answer = await client.call(tool).catch((error: unknown) => error);
        if (names.includes(tool)) expect(answer.content[0].text).to.equal(`this is ${tool}`);
        else expect(answer, tool).to.include({ code: -32602 });
      }
      return { ...started, client, names: names.join(' ') };
    };

    it('are all, or those included, or those not excluded, to see as well as to call', async () => {
      expect((await exposed({})).names).to.equal('a b c');
      expect((await exposed({ include: [] })).names).to.equal('');
      expect((await exposed({ include: ['a', 'b'] })).names).to.equal('a b');
      expect((await exposed({ exclude: ['b'] })).names).to.equal('a c');
      expect((await exposed({ include: ['a', 'b'], exclude: ['b'] })).names).to.equal('a');
    });

    it('are reported where a name of the options is no tool', async () => {
      const { names, log } = await exposed({ include: ['a', 'typo'] });
      expect(names).to.equal('a');
      expect(log.lines.map(({ message }) => message).join()).to.include('names of tools that the app lacks');
    });

    it('pass the filter, which sees the request and the user, and can add nothing', async () => {
      const asked: string[] = [];
      const { names } = await exposed(
        {
          exclude: ['c'],
          toolFilter: async (tools, request: IncomingMessage, { user }) => {
            asked.push(`${tools.map((it) => it.name).join(' ')} ${user.id} ${request.headers['x-plan']}`);
            return [{ name: 'c' }, { name: 'invented' }, ...tools.slice(1)];
          },
        },
        { ...as('bob'), 'x-plan': 'free' },
      );
      expect(names).to.equal('b');
      expect(new Set(asked)).to.deep.equal(new Set(['a b bob free']));
      // Once for the list, for each of three calls, and for the handshake where there is one.
      expect(asked).to.have.length(sessions ? 5 : 4);
    });

    it('are denied by a filter that throws or answers nonsense', async () => {
      for (const toolFilter of [
        () => {
          throw new Error('the secret');
        },
        () => undefined as never,
      ]) {
        const { url, log } = await startMcp({ app: abc }, { toolFilter });
        const denied = await connect(url)
          .then((client) => client.tools())
          .catch((error: unknown) => error);
        expect(denied).to.be.instanceOf(Error);
        expect(String(denied)).to.include('denied').and.not.include('secret');
        expect(log.lines.map(({ message }) => message).join()).to.include('tool filter');
      }
    });
  });
}

describe('the options of mcpServerPlugin', () => {
  const wrong: readonly [unknown, RegExp][] = [
    [{}, /sessionId/],
    [{ sessionId: 'main', path: 'mcp' }, /path/],
    [{ sessionId: 'main', include: 'a' }, /include/],
    [{ sessionId: 'main', toolFilter: true }, /toolFilter/],
    [{ sessionId: 'main', includes: [] }, /includes/],
    [{ sessionId: 'main', limits: { idleMs: 0 } }, /limits\.idleMs/],
  ];
  for (const [options, pattern] of wrong) {
    it(`are refused, naming what is wrong: ${JSON.stringify(options)}`, () => {
      expect(() => mcpServerPlugin(options as McpServerPluginOptions))
        .to.throw(GatewayError, pattern)
        .with.property('code', 'INVALID_REQUEST');
    });
  }

  it('name an app that is there, else `use` throws', () => {
    const gateway = createGateway({ app: abc, port: 0 });
    expect(() => gateway.use(mcpServerPlugin({ sessionId: 'nobody:x' })))
      .to.throw(GatewayError)
      .with.property('code', 'APP_NOT_FOUND');
  });

  it('let one gateway serve the tools of several apps, each under its path', async () => {
    const { gateway, url, base } = await startMcp(
      { apps: { abc, other: conformanceApp }, defaultApp: 'abc' },
      { serverInfo: { name: 'letters', version: '3.1' }, instructions: 'Use a first' },
    );
    gateway.use(mcpServerPlugin({ sessionId: 'other:main', path: '/other/mcp' }));
    const [letters, others] = await Promise.all(
      [url, `${base}/other/mcp`].map(async (it) => (await CLIENTS[0]!.connect(it)).tools()),
    );
    expect(letters).to.have.length(3);
    expect(others!.map((it) => it.name)).to.include('test_simple_text');
    const text = await (await postMcp(url, INITIALIZE)).text();
    expect(JSON.parse(/^data: (\{.*)$/m.exec(text)![1]!).result).to.deep.include({
      serverInfo: { name: 'letters', version: '3.1' },
      instructions: 'Use a first',
    });
  });

  it('is denied where the tool filter is silent for longer than a guard may be', async () => {
    const limits = { guardMs: 50 };
    const { url } = await startMcp({ app: abc, limits }, { toolFilter: () => new Promise(() => {}) });
    const answer = await postMcp(url, INITIALIZE);
    expect(answer.status).to.equal(403);
    expect((await answer.json()).error).to.deep.include({ code: -32000, data: { code: 'GUARD_DENIED' } });
  });
});
