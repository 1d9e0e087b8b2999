import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { defineApp, type ToolContext, tool } from '../../../server/index.js';
import type { McpToolFilter } from '../../../server/plugins/mcp/index.js';
import { gate } from '../../support/gate.js';
import { alone } from '../../support/gateway.js';
import { holdTimers } from '../../support/held-timers.js';
import { as } from '../../support/users.js';
import { conformanceApp } from './conformance-app.js';
import {
  CLIENTS,
  call,
  INITIALIZE,
  initialize,
  LIST,
  messagesOf,
  postMcp,
  startMcp,
  withSessions,
} from './mcp-clients.js';
import { heldTool } from './offered-tools.js';

const tools = () => heldTool({ quick: tool({ handler: () => 'quick' }) });

describe('client sessions of mcpServerPlugin', () => {
  it('are each found by their own user alone', async () => {
    const { url } = await startMcp({ app: conformanceApp });
    const id = await initialize(url);
    const session = { 'mcp-session-id': id };
    expect((await postMcp(url, LIST, session)).status).to.equal(200);
    for (const foreign of [as('bob'), as('acme/alice')]) {
      for (const method of ['GET', 'DELETE']) {
        const headers = { ...foreign, ...session, accept: 'text/event-stream' };
        expect((await fetch(url, { method, headers })).status, method).to.equal(404);
      }
      const answer = await postMcp(url, LIST, { ...session, ...foreign });
      expect(answer.status).to.equal(404);
      expect(await answer.json()).to.deep.equal({
        jsonrpc: '2.0',
        error: { code: -32001, message: 'Session not found' },
        id: null,
      });
    }
    const unknown = await postMcp(url, LIST, { 'mcp-session-id': 'nobody' });
    expect(unknown.status).to.equal(404);
    expect((await unknown.json()).error.code).to.equal(-32001);
    expect((await postMcp(url, LIST, session)).status).to.equal(200);
  });

  it('are needed by clients of these revisions', async () => {
    const { url } = await startMcp({ app: conformanceApp });
    const answer = await postMcp(url, LIST);
    expect(answer.status).to.equal(400);
    expect((await answer.json()).error.message).to.include('Mcp-Session-Id');
  });

  it('negotiate every revision that has them', async () => {
    const { url } = await startMcp({ app: conformanceApp });
    for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const params = { ...INITIALIZE.params, protocolVersion };
      const [{ result }] = await messagesOf(await postMcp(url, { ...INITIALIZE, params }));
      expect(result.protocolVersion).to.equal(protocolVersion);
      expect(result.capabilities).to.deep.equal({ tools: {}, resources: {} });
    }
  });

  // The grammar is that of RFC 9110, section 12.5.1.
  for (const [accept, status] of [
    [undefined, 200],
    ['*/*', 200],
    ['application/*, text/*', 200],
    ['Application/JSON, Text/Event-Stream', 200],
    ['application/json;q=0.9, text/event-stream;q=0.8', 200],
    ['application/json, */*;q=0.1', 200],
    ['application/json', 406],
    ['image/png', 406],
    ['application/json, text/event-stream;q=0', 406],
    ['*/*;q=0, application/json', 406],
  ] as const)
    it(`take what their client accepts from its header: ${accept ?? '(none)'}`, async () => {
      const { url } = await startMcp({ app: conformanceApp });
      // Node's fetch always has the header.
      const post = (body: unknown, headers: Record<string, string> = {}) =>
        new Promise<IncomingMessage>((resolve, reject) => {
          const all = { ...as('alice'), 'content-type': 'application/json', ...headers };
          request(url, { method: 'POST', headers: { ...all, ...(accept !== undefined && { accept }) } })
            .on('response', (response) => resolve(response.resume()))
            .on('error', reject)
            .end(JSON.stringify(body));
        });
      const opened = await post(INITIALIZE);
      expect(opened.statusCode).to.equal(status);
      if (status !== 200) return;
      const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
      expect((await post(LIST, session)).statusCode).to.equal(200);
    });

  it('end with DELETE, and then with the calls they had', async () => {
    const { app, began, aborted } = tools();
    const { url } = await startMcp({ app });
    const id = await initialize(url);
    const session = { 'mcp-session-id': id };
    const pending = await postMcp(url, call('held'), session);
    await began.passed;
    expect((await fetch(url, { method: 'DELETE', headers: { ...as('alice'), ...session } })).status).to.equal(
      200,
    );
    await aborted.passed;
    await pending.text();
    expect((await postMcp(url, LIST, session)).status).to.equal(404);
  });

  it('end for a real client that terminates, which then opens another', async () => {
    const { url } = await startMcp({ app: conformanceApp });
    const client = await withSessions.connect(url);
    const id = client.sessionId!;
    await client.terminate();
    expect((await postMcp(url, LIST, { 'mcp-session-id': id })).status).to.equal(404);
    expect((await withSessions.connect(url)).sessionId).not.to.equal(id);
  });

  it('expire when nothing of them is in use, and only then', async () => {
    const { clock } = holdTimers('Date');
    const { app, began, held } = tools();
    const idleMs = 60_000;
    const { url } = await startMcp({ app, ...alone() }, { limits: { idleMs, sessionsPerUser: 1 } });
    const session = { 'mcp-session-id': await initialize(url) };
    const controller = new AbortController();
    const stream = await fetch(url, {
      headers: { ...as('alice'), ...session, accept: 'text/event-stream' },
      signal: controller.signal,
    });
    expect(stream.status).to.equal(200);
    clock.tick(3 * idleMs);
    expect((await postMcp(url, call('quick'), session)).status).to.equal(200);
    const pending = await postMcp(url, call('held'), session);
    await began.passed;
    controller.abort();
    await pending.body!.cancel();
    // By its answer the gateway has heard that the two have gone.
    await (await postMcp(url, LIST, { ...session, ...as('bob') })).text();
    clock.tick(3 * idleMs);
    expect((await postMcp(url, call('quick'), session)).status, 'a call still runs').to.equal(200);
    held.open('done');
    // Its place is free again as soon as it has expired.
    let opened: Response;
    do {
      clock.tick(idleMs);
      opened = await postMcp(url, INITIALIZE);
      await opened.text();
    } while (opened.status === 429);
    expect(opened.status).to.equal(200);
    expect((await postMcp(url, LIST, session)).status).to.equal(404);
  });

  /** Whether a session is there. */
  const isThere = async (url: string, id: string, headers: Record<string, string> = {}) => {
    const answer = await postMcp(url, LIST, { 'mcp-session-id': id, ...headers });
    await answer.text();
    return answer.status === 200;
  };

  it('make room when their user has too many: the longest unused one ends', async () => {
    const { url } = await startMcp({ app: conformanceApp, ...alone() }, { limits: { sessionsPerUser: 2 } });
    const first = await initialize(url);
    const second = await initialize(url);
    expect(await isThere(url, first)).to.equal(true);
    const third = await initialize(url);
    expect(await isThere(url, second)).to.equal(false);
    expect(await isThere(url, first)).to.equal(true);
    expect(await isThere(url, third)).to.equal(true);
    // Clients that never end a session can begin one for each request.
    for (let n = 0; n < 20; n++) await initialize(url);
    expect(await isThere(url, third)).to.equal(false);
  });

  it('stay while they have a call or a stream, and are refused only where all have', async () => {
    const { app, began, held } = tools();
    const { url } = await startMcp({ app, ...alone() }, { limits: { sessionsPerUser: 2, sessions: 3 } });
    const calling = await initialize(url);
    const pending = await postMcp(url, call('held'), { 'mcp-session-id': calling });
    await began.passed;
    const listening = await initialize(url);
    const stream = (id: string, headers = {}) =>
      fetch(url, {
        headers: { ...as('alice'), accept: 'text/event-stream', 'mcp-session-id': id, ...headers },
      });
    await stream(listening);
    // Refused handshakes leave their place.
    for (let n = 0; n < 5; n++)
      expect((await postMcp(url, INITIALIZE, { ...as('bob'), accept: 'text/html' })).status).to.equal(406);
    const refused = await postMcp(url, INITIALIZE);
    expect(refused.status).to.equal(429);
    expect(refused.headers.get('retry-after')).to.equal('10');
    expect((await refused.json()).error).to.deep.include({
      code: -32000,
      message: 'You have too many MCP sessions in use',
    });
    const bobs = await initialize(url, as('bob'));
    await stream(bobs, as('bob'));
    expect((await postMcp(url, INITIALIZE, as('carol'))).status).to.equal(503);
    held.open('done');
    await pending.text();
    let opened: Response;
    do {
      // The server hears of the end of its response behind the client.
      opened = await postMcp(url, INITIALIZE, as('carol'));
      await opened.text();
    } while (opened.status === 503);
    const carols = opened.headers.get('mcp-session-id')!;
    expect(await isThere(url, calling)).to.equal(false);
    expect(await isThere(url, listening)).to.equal(true);
    expect(await isThere(url, carols, as('carol'))).to.equal(true);
  });

  it('of one user shut out nobody: the user who has most makes room for the others', async () => {
    const { url } = await startMcp({ app: conformanceApp, ...alone() }, { limits: { sessions: 4 } });
    const bobs = await initialize(url, as('bob'));
    const own = [];
    for (let n = 0; n < 6; n++) own.push(await initialize(url));
    const carols = await initialize(url, as('carol'));
    expect(await isThere(url, bobs, as('bob'))).to.equal(true);
    expect(await isThere(url, carols, as('carol'))).to.equal(true);
    const left = [];
    for (const id of own) left.push(await isThere(url, id));
    expect(left).to.deep.equal([false, false, false, false, true, true]);
  });

  it('of a call that was cancelled are unused', async () => {
    const { app, began } = tools();
    const { url } = await startMcp({ app, ...alone() }, { limits: { sessionsPerUser: 1 } });
    const session = { 'mcp-session-id': await initialize(url) };
    const pending = await postMcp(url, call('held'), session);
    await began.passed;
    expect((await postMcp(url, INITIALIZE)).status).to.equal(429);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
    await (await postMcp(url, cancel, session)).text();
    await pending.text();
    let opened: Response;
    do {
      // The server hears of the end of its response behind the client.
      opened = await postMcp(url, INITIALIZE);
      await opened.text();
    } while (opened.status === 429);
    expect(opened.status).to.equal(200);
  });

  it('take no place when their filter denies them', async () => {
    let denials = 3;
    const toolFilter: McpToolFilter = (tools) => {
      denials -= 1;
      if (denials >= 0) throw new Error('not now');
      return tools;
    };
    const { url } = await startMcp({ app: conformanceApp }, { toolFilter, limits: { sessionsPerUser: 1 } });
    for (let n = 0; n < 3; n++) expect((await postMcp(url, INITIALIZE)).status).to.equal(403);
    await initialize(url);
  });

  it('resume a stream that was cut, with the result that came meanwhile', async () => {
    const { app, began, held } = tools();
    const { url } = await startMcp({ app });
    const session = { 'mcp-session-id': await initialize(url), 'mcp-protocol-version': '2025-11-25' };
    const cut = await postMcp(url, call('held'), session);
    const reader = cut.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    const lastId = /^id: (.+)$/m.exec(first)![1]!;
    expect(first).to.include('retry: 1000');
    await began.passed;
    await reader.cancel();
    held.open('kept for you');
    const headers = { ...as('alice'), ...session, accept: 'text/event-stream', 'last-event-id': lastId };
    let resumed = await fetch(url, { headers });
    // The server may not have noticed the cut yet.
    while (resumed.status === 409) resumed = await fetch(url, { headers });
    const [message] = await messagesOf(resumed);
    expect(message.result.content).to.deep.equal([{ type: 'text', text: 'kept for you' }]);
  });

  it('keep a bounded number of messages, and say when one is too old to resume from', async () => {
    const { app } = tools();
    const { url } = await startMcp({ app }, { limits: { replayMessages: 2 } });
    const session = { 'mcp-session-id': await initialize(url), 'mcp-protocol-version': '2025-11-25' };
    const text = await (await postMcp(url, call('quick'), session)).text();
    const ids = [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id!);
    const resume = (id: string) =>
      fetch(url, {
        headers: { ...as('alice'), ...session, accept: 'text/event-stream', 'last-event-id': id },
      });
    expect((await messagesOf(await resume(ids[0]!)))[0].result.content[0].text).to.equal('quick');
    await (await postMcp(url, call('quick', 4), session)).text();
    expect((await resume(ids[0]!)).status).to.equal(400);
  });

  it('are closed with the gateway, with their streams and calls', async () => {
    const { app, began, aborted } = tools();
    const { gateway, url } = await startMcp({ app });
    const session = { 'mcp-session-id': await initialize(url) };
    const listening = await fetch(url, {
      headers: { ...as('alice'), ...session, accept: 'text/event-stream' },
    });
    const pending = await postMcp(url, call('held'), session);
    await began.passed;
    await gateway.close();
    await aborted.passed;
    await Promise.all([listening.text(), pending.text()]);
  });

  for (const { name, connect } of CLIENTS) {
    it(`give 100 concurrent clients with equal ids their own answers: ${name}`, async () => {
      const all = gate();
      let waiting = 0;
      const app = defineApp({
        run: () => 'unused',
        tools: {
          // Nobody is answered before everybody has asked.
          meet: tool({
            handler: async ({ n }: any, { user }: ToolContext) => {
              waiting += 1;
              if (waiting === 100) all.open();
              await all.passed;
              return { n, user: user!.id };
            },
          }),
        },
      });
      const { url } = await startMcp({ app });
      const clients = await Promise.all(
        Array.from({ length: 100 }, (_, n) => connect(url, as(`user${n % 7}`))),
      );
      const answers = await Promise.all(clients.map((client, n) => client.call('meet', { n })));
      expect(answers.map(({ structuredContent }) => structuredContent)).to.deep.equal(
        clients.map((_, n) => ({ n, user: `user${n % 7}` })),
      );
      await Promise.all(clients.map((client) => client.close()));
    });
  }
});

describe('a client of mcpServerPlugin without a session', () => {
  it('cancels its call by going away', async () => {
    const { app, began, aborted } = tools();
    const { url } = await startMcp({ app });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const controller = new AbortController();
    const request = fetch(url, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        ...as('alice'),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'held',
      },
      body: JSON.stringify({ ...call('held'), params: { name: 'held', arguments: {}, _meta: meta } }),
    }).catch((error: unknown) => error);
    await began.passed;
    controller.abort();
    await aborted.passed;
    expect(await request).to.be.instanceOf(Error);
  });
});
