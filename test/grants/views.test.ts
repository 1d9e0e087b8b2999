import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { createInProcessTransport } from '../../server/index.js';
import { agUiPlugin } from '../../server/plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { langGraphPlugin } from '../../server/plugins/langgraph/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../server/plugins/ui-message-stream/index.js';
import type { CallOf } from '../../shared/calls.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import { HIDDEN_PARTS } from '../../shared/grants.js';
import { collect, connectClient, takeUntil } from '../support/client.js';
import { get, jsonHeaders, post } from '../support/gateway.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { openStream } from '../support/sse-client.js';
import { as, userNamed } from '../support/users.js';
import { begin, SECRETS } from './cast.js';

const ben = as('ben');
/** Looks for what is hidden in all that was sent. */
const expectClean = (
  bytes: string,
  where: string,
  parts: readonly (keyof typeof SECRETS)[] = HIDDEN_PARTS,
): void => {
  for (const part of parts) expect(bytes, `${part} in ${where}`).not.to.include(String(SECRETS[part]));
};

const isOver =
  (text: string) =>
  ({ event, data }: { event: string; data: any }) =>
    event === 'message_end' && JSON.stringify(data).includes(text);

/** A gateway with every door, an answer of everything, and a grant that hides all that can be hidden. */
async function beginHidden(role: 'viewer' | 'member' = 'viewer') {
  const socketPath = `${socketDirectory()}/gateway.sock`;
  const started = await begin({ socketPath });
  const { gateway, send, shared, url } = started;
  gateway.use(uiMessageStreamPlugin());
  gateway.use(agUiPlugin());
  gateway.use(chatCompletionsPlugin());
  gateway.use(responsesPlugin());
  gateway.use(langGraphPlugin());
  await send('think');
  await post(`${url}/update`, { sessionId: 'main', metadata: { note: SECRETS.metadata } }, as('ann'));
  const grant = await shared({ with: { userId: 'ben' }, as: role, hide: HIDDEN_PARTS });
  return { ...started, ...grant, socketPath };
}

describe('a grant that hides', () => {
  it('everything: none of it is in the bytes of any operation that reads', async () => {
    const { url, sessionId, send } = await beginHidden();
    const { body: run } = await send('think');
    // What is searched for is there for its owner.
    const mine = await (
      await fetch(`${url}/export?sessionId=main&what=events`, { headers: as('ann') })
    ).text();
    for (const part of HIDDEN_PARTS) expect(mine, part).to.include(String(SECRETS[part]));
    const named = `sessionId=${sessionId}`;
    // A viewer may not list grants.
    const queries = {
      history: [named],
      status: [named],
      export: [named, `${named}&what=events`, `${named}&what=schedules`],
      run: [`${named}&runId=${run.runId}`],
      schedules: [named],
      notices: [named],
      search: [`${named}&query=a`, 'query=a+secret', 'query=hello'],
      sessions: ['shared=true', ''],
      inbox: [''],
      usage: [''],
      apps: [''],
      methods: [''],
    } satisfies Record<Exclude<CallOf<'GET'>, 'grants'> | 'export', readonly string[]>;
    const paths = Object.entries(queries).flatMap(([name, all]) => all.map((query) => `${name}?${query}`));
    for (const path of paths) {
      const response = await fetch(`${url}/${path}`, { headers: ben });
      expect(response.status, path).to.equal(200);
      expectClean(await response.text(), path);
    }
  });

  it('everything: none of it is in the bytes of any stream, live, replayed or as a snapshot', async () => {
    const { url, sessionId, send, socketPath } = await beginHidden();
    const streams = await Promise.all(
      ['earliest', 'snapshot', 'now'].map((from) =>
        openStream(`${url}/events?sessionId=${sessionId}&from=${from}`, { headers: ben }),
      ),
    );
    const sockets = [await openWebSocket(url), await openUnixSocket(socketPath)];
    for (const socket of sockets) {
      await socket.connect({ token: 'ben' });
      await socket.ask('s', 'subscribe', { add: [{ sessionId, from: 'snapshot' }] });
    }
    for (const stream of streams) await stream.until(({ event }) => event === 'heartbeat');
    // While it waits for a person too.
    const asking = send('pay');
    await streams[2]!.until(({ event }) => event === 'tool_confirmation_required');
    const waiting = await openStream(`${url}/events?sessionId=${sessionId}&from=snapshot`, { headers: ben });
    const { data } = await waiting.until(({ event }) => event === 'snapshot');
    expect(data.state.pending).to.have.length(1);
    expect(data.state.run).to.not.equal(null);
    await post(
      `${url}/tool-response`,
      { sessionId: 'main', callId: data.state.pending[0].callId, approved: true },
      as('ann'),
    );
    await asking;
    await send('think');
    const last = await send('bye');
    const runId = last.body.runId;
    for (const stream of [...streams, waiting]) await stream.until(isOver(runId));
    for (const socket of sockets)
      await socket.until((frame) => frame.event === 'message_end' && frame.data.runId === runId);
    for (const seen of [...streams, waiting])
      expectClean(JSON.stringify(seen.events.map(({ wire }) => wire)), 'a stream');
    for (const socket of sockets) expectClean(socket.texts.join(), 'a socket');
    expect(streams[0]!.events.map(({ event }) => event))
      .to.include('hidden')
      .and.include('reasoning_delta');
  });

  it('everything: none of it is in what clients in this process are given', async () => {
    const { gateway, sessionId } = await beginHidden();
    const client = createClient({ transport: createInProcessTransport(gateway, { user: userNamed('ben') }) });
    closeLater(client, (it) => it.disconnect());
    const seen = await takeUntil(
      client.events(sessionId, { from: 'earliest' }),
      ({ type }) => type === 'message_end',
    );
    const handle = gateway.session(sessionId, { user: userNamed('ben') });
    const all = [
      seen,
      await client.session(sessionId).status(),
      await handle.history(),
      await collect(handle.export('events')),
    ];
    expectClean(JSON.stringify(all), 'this process');
  });

  it('everything: none of it is in the bytes of any door of another protocol', async () => {
    const { url, sessionId, send } = await beginHidden();
    await send('think');
    const body = (value: unknown): RequestInit => ({ method: 'POST', body: JSON.stringify(value) });
    const id = encodeURIComponent(sessionId);
    const input = {
      threadId: sessionId,
      runId: 'r',
      state: {},
      messages: [],
      tools: [],
      context: [],
      forwardedProps: {},
    };
    const asked: [string, RequestInit?][] = [
      [`api/chat/${id}`],
      [`api/chat/${id}/stream`],
      [`ag-ui/agent/default/connect`, body(input)],
      [`langgraph/threads/${id}`],
      [`langgraph/threads/${id}/state`],
      [`langgraph/threads/${id}/history`, body({})],
      [`v1/conversations/${id}`],
      [`v1/conversations/${id}/items`],
    ];
    const answered: string[] = [];
    for (const [path, init] of asked) {
      const response = await fetch(`${url}/${path}`, { headers: jsonHeaders('ben'), ...init });
      const text = await response.text();
      expectClean(text, path);
      if (response.status === 200 && text.includes('Hello ann')) answered.push(path);
    }
    expect(answered).to.include.members([
      `api/chat/${id}`,
      `api/chat/${id}/stream`,
      'ag-ui/agent/default/connect',
      `langgraph/threads/${id}/state`,
      `v1/conversations/${id}/items`,
    ]);
  });

  it('everything: none of it is in the bytes of what a member sends and is answered, on any door', async () => {
    const { url, sessionId, socketPath } = await beginHidden('member');
    const say = { sessionId, message: 'think' };
    const user = { role: 'user', content: 'think' };
    const parts = [{ type: 'text', text: 'think' }];
    const input = { threadId: sessionId, runId: 'r', state: {}, tools: [], context: [], forwardedProps: {} };
    const id = encodeURIComponent(sessionId);
    const asked: [string, unknown, Record<string, string>?][] = [
      ['send', say, { accept: 'application/json' }],
      ['send', say, { accept: 'text/event-stream' }],
      ['regenerate', { sessionId }, { accept: 'text/event-stream' }],
      ['v1/chat/completions', { model: 'default', messages: [user] }, { 'x-session-id': sessionId }],
      [
        'v1/chat/completions',
        { model: 'default', messages: [user], stream: true, stream_options: { include_usage: true } },
        { 'x-session-id': sessionId },
      ],
      ['v1/responses', { model: 'default', input: 'think' }, { 'x-session-id': sessionId }],
      ['v1/responses', { model: 'default', input: 'think', stream: true, conversation: sessionId }],
      [
        'api/chat',
        { id: sessionId, trigger: 'submit-message', messages: [{ id: 'u1', role: 'user', parts }] },
      ],
      ['ag-ui/agent/default/run', { ...input, messages: [{ id: 'u2', ...user }] }],
      [
        `langgraph/threads/${id}/runs/wait`,
        { assistant_id: 'default', input: { messages: [{ type: 'human', content: 'think' }] } },
      ],
      [
        `langgraph/threads/${id}/runs/stream`,
        {
          assistant_id: 'default',
          input: { messages: [{ type: 'human', content: 'think' }] },
          stream_mode: ['values', 'messages', 'updates', 'custom'],
        },
      ],
    ];
    for (const [path, body, headers] of asked) {
      const response = await fetch(`${url}/${path}`, {
        method: 'POST',
        headers: { ...jsonHeaders('ben'), ...headers },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      expect([path, response.status], text).to.deep.equal([path, 200]);
      expect(text, path).to.include('ben');
      expectClean(text, path);
    }
    for (const socket of [await openWebSocket(url), await openUnixSocket(socketPath)]) {
      await socket.connect({ token: 'ben' });
      const { ok } = await socket.ask('send', 'send', say);
      expect(ok).to.equal(true);
      expectClean(socket.texts.join(), 'a socket');
    }
  });

  it('what tools answer lets nobody call them by other protocols', async () => {
    const { url, gateway, sessionId } = await beginHidden('member');
    gateway.use(mcpServerPlugin({ sessionId }));
    const ask = async (method: string, params: object, headers = {}) => {
      const response = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { ...jsonHeaders('ben'), accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return { id: response.headers.get('mcp-session-id') ?? '', text: await response.text() };
    };
    const clientInfo = { name: 't', version: '1' };
    const { id } = await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    const { text } = await ask('tools/call', { name: 'look', arguments: {} }, { 'mcp-session-id': id });
    expect(text).to.include('You have no access');
    expectClean(text, 'MCP');
  });

  for (const part of HIDDEN_PARTS) {
    it(`${part} hides that, and nothing else`, async () => {
      const { url, send, shared } = await begin();
      await send('think');
      const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'viewer', hide: [part] });
      const read = async (path: string) => (await fetch(`${url}/${path}`, { headers: ben })).text();
      const all =
        (await read(`history?sessionId=${sessionId}`)) +
        (await read(`export?sessionId=${sessionId}&what=events`));
      expectClean(all, part, [part]);
      const others = HIDDEN_PARTS.filter((other) => other !== part);
      for (const other of others) expect(all, other).to.include(String(SECRETS[other]));
      expect(all).to.include('Hello ann');
    });
  }

  it('keeps the cursors of the log: what is hidden leaves its place, once between two others', async () => {
    const { url, send, sessionId } = await beginHidden();
    const stream = await openStream(`${url}/events?sessionId=${sessionId}&from=earliest`, { headers: ben });
    const { body } = await send('think');
    await stream.until(isOver(body.runId));
    const owner = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: as('ann') });
    await owner.until(isOver(body.runId));
    const cursors = new Map(owner.logged.map(({ id, event }) => [id, event]));
    let at = 0;
    let before = '';
    for (const { event, id, data } of stream.events) {
      if (event === 'connected' || event === 'heartbeat') continue;
      const seq = Number(id!.split('.')[2]);
      expect(cursors.has(id!), `${event} at ${id}`).to.equal(true);
      expect(seq).to.equal(at + (event === 'hidden' ? data.count : 1));
      if (event === 'hidden') expect(before).not.to.equal('hidden');
      else expect(event).to.equal(cursors.get(id!));
      at = seq;
      before = event;
    }
    expect(at).to.equal(owner.logged.length);
  });

  it('is resumed from any of its cursors, without a gap, doubling or anything that was hidden', async () => {
    const { url, send, sessionId } = await beginHidden();
    await send('think');
    const last = await send('bye');
    const whole = await openStream(`${url}/events?sessionId=${sessionId}&from=earliest`, { headers: ben });
    await whole.until(isOver(last.body.runId));
    const ids = whole.events.flatMap(({ id, event }) => (id && event !== 'heartbeat' ? [id] : []));
    for (const id of ids.slice(0, -1)) {
      const again = await openStream(`${url}/events?sessionId=${sessionId}`, {
        headers: { ...ben, 'last-event-id': id },
      });
      await again.until(isOver(last.body.runId));
      const resumed = again.events.flatMap(({ id, event }) => (id && event !== 'heartbeat' ? [id] : []));
      expect(resumed).to.deep.equal(ids.slice(ids.indexOf(id) + 1));
      expectClean(JSON.stringify(again.events), 'a resumed stream');
      again.close();
    }
  });

  it('shows the same state by its events, by its snapshots and by its history', async () => {
    const { url, send, sessionId } = await beginHidden();
    await send('think');
    const { body } = await send('bye');
    const client = connectClient(url, { token: 'ben' });
    const events = await takeUntil(
      client.events(sessionId, { from: 'earliest' }),
      (event) => event.type === 'message_end' && event.runId === body.runId,
    );
    const folded = events.reduce(
      (state: SessionState, event: GatewayEvent) => reduce(state, event),
      initialState,
    );
    const stream = await openStream(`${url}/events?sessionId=${sessionId}&from=snapshot`, { headers: ben });
    const { data } = await stream.until(({ event }) => event === 'snapshot');
    expect(data.state).to.deep.equal(JSON.parse(JSON.stringify(folded)));
    const history = await get(`${url}/history?sessionId=${sessionId}`, ben);
    expect(history.body.messages).to.deep.equal(data.state.messages);
    expect(events.filter(({ type }) => type === 'gap')).to.deep.equal([]);
  });
});
