import { get as httpGet, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { overriding } from '../support/overriding.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';

const app = defineApp({
  async *run(turn) {
    if (turn.text === 'fail') throw new Error('no');
    if (turn.text === 'history')
      yield JSON.stringify(turn.history.map(({ role, content }) => [role, content]));
    else yield `echo ${turn.text}`;
  },
});

/** The lines of an answer, parsed. */
async function lines(url: string, query = ''): Promise<any[]> {
  const response = await fetch(`${url}/export?sessionId=main${query}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(response.status).to.equal(200);
  expect(response.headers.get('content-type')).to.equal('application/x-ndjson; charset=utf-8');
  expect(response.headers.get('content-disposition')).to.include('attachment');
  const text = await response.text();
  if (text === '') return [];
  expect(text.endsWith('\n')).to.equal(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

const refused = async (answer: ReturnType<typeof post>): Promise<unknown[]> => {
  const { status, body } = await answer;
  return [status, body.error?.code, body.error?.details?.[0]?.path];
};

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`export and import (${name})`, () => {
    async function setUp(config: object = {}) {
      const started = await startGateway({ app, store: make(), clientMessages: { import: true }, ...config });
      const { url } = started;
      const ask = (operation: string, body: object) =>
        post(`${url}/${operation}`, { sessionId: 'main', ...body });
      const history = async (sessionId = 'main'): Promise<Message[]> =>
        (await get(`${url}/history?sessionId=${sessionId}&limit=1000`)).body.messages;
      return { ...started, ask, history };
    }

    it('writes the messages that are shown, and reads them again as they were', async () => {
      const { url, gateway, ask, history } = await setUp();
      for (const message of ['one', 'fail', 'three']) await ask('send', { message });
      await ask('regenerate', {});
      const shown = await history();
      const exported = await lines(url);
      expect(exported).to.deep.equal(shown.map(({ versions: _, ...message }) => message));
      expect(exported[3]).to.include({ role: 'assistant', stopReason: 'error' });

      // A host may say all of it; nothing is lost.
      const place = await gateway.session('copy').import(exported);
      expect(place.tip).to.equal(exported.at(-1).id);
      expect(await history('copy')).to.deep.equal(exported);

      // What only a gateway can know, a client cannot say.
      const brought = await ask('import', { sessionId: 'mine', messages: exported });
      expect(brought.body).to.include({ sessionId: 'mine', tip: exported.at(-1).id });
      const gone = ({ runId: _, app: __, usage: ___, ...message }: any) => message;
      expect(await history('mine')).to.deep.equal(exported.map(gone));
      expect((await history('mine'))[3])
        .to.include({ stopReason: 'error' })
        .and.not.have.property('runId');
    });

    it('shows what was imported to all who follow, from wherever they begin, and to the app', async () => {
      const { url, ask } = await setUp();
      const follow = (query: string) => openStream(`${url}/events?sessionId=main&token=${TOKEN}&${query}`);
      const waiting = await follow('from=now');
      await waiting.until(({ event }) => event === 'heartbeat');
      const messages = [
        { role: 'system', content: 'Be short' },
        { id: 'q', content: 'Who?' },
        { role: 'assistant', content: 'You' },
      ];
      const { body } = await ask('import', { messages, title: 'Brought', metadata: { from: 'there' } });
      for (const stream of [waiting, await follow('from=earliest')]) {
        await stream.until(({ event }) => event === 'history_moved');
        let state = initialState;
        for (const { event, id, data } of stream.logged)
          state = reduce(state, { type: event, cursor: id, ...data } as GatewayEvent);
        expect(state.messages.map(({ role }) => role)).to.deep.equal(['system', 'user', 'assistant']);
        expect(state.tip).to.equal(body.tip);
      }
      const { data } = await (await follow('from=snapshot')).until(({ event }) => event === 'snapshot');
      expect(data.state).to.deep.include({ title: 'Brought', metadata: { from: 'there' }, messageCount: 3 });
      const { body: answer } = await ask('send', { message: 'history' });
      const told = JSON.parse(answer.message.content[0].text);
      expect(told.map(([role]: [string]) => role)).to.deep.equal(['system', 'user', 'assistant']);
    });

    it('writes the events that are kept, the state before them first where some were cut', async () => {
      const { url, ask, history } = await setUp({ limits: { retention: { events: 20 } } });
      await ask('send', { message: 'one' });
      const whole = await lines(url, '&what=events');
      expect(whole.map(({ type }) => type)).to.deep.equal([
        'message_accepted',
        'message_start',
        'content_delta',
        'message_end',
      ]);
      for (let n = 0; n < 40; n++) await ask('send', { message: `more ${n}` });
      const exported: GatewayEvent[] = await lines(url, '&what=events');
      expect(exported[0]!.type).to.equal('snapshot');
      const cut = exported.reduce(reduce, initialState);
      expect(cut.messages.at(-1)).to.deep.equal((await history()).at(-1));
      expect(new Set(exported.map(({ cursor }) => cursor)).size).to.equal(exported.length);
    });

    it('is for GET alone: to read all of it for nothing would cost as much', async () => {
      const { url } = await setUp();
      const { status, headers } = await fetch(`${url}/export?sessionId=main`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      expect([status, headers.get('allow')]).to.deep.equal([405, 'GET']);
    });

    it('is read page by page: what its reader does not take is not read', async () => {
      const reads: number[] = [];
      const store = make();
      const count = overriding(store, {
        messages(...args) {
          reads.push(performance.now());
          return store.messages(...args);
        },
      });
      const { gateway, url } = await setUp({ store: count });
      const big = 'x'.repeat(10_000);
      const messages = Array.from({ length: 3000 }, (_, n) => ({ id: `m${n}`, content: `${n} ${big}` }));
      await gateway.session('main').import(messages);
      const before = reads.length;
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        httpGet(
          `${url}/export?sessionId=main`,
          { headers: { authorization: `Bearer ${TOKEN}` } },
          resolve,
        ).on('error', reject);
      });
      response.pause();
      await new Promise((resolve) => response.once('readable', resolve));
      // 30 MB do not fit what sockets hold; the rest waits in the store, as the last 1000 alone are in memory.
      for (let same = 0, last = -1; same < 10; await new Promise((resolve) => setTimeout(resolve, 10))) {
        same = reads.length === last ? same + 1 : 0;
        last = reads.length;
      }
      const blocked = reads.length - before;
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      const ids = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id);
      expect(ids).to.deep.equal(messages.map(({ id }) => id));
      expect(reads.length - before, 'more was read while it was taken').to.be.greaterThan(blocked);
    });

    it('is cut off where the session is deleted meanwhile, and not taken for the whole', async () => {
      const { gateway } = await setUp();
      const messages = Array.from({ length: 1000 }, (_, n) => ({ content: `${n} ${'x'.repeat(10_000)}` }));
      await gateway.session('main').import(messages);
      let read = 0;
      let code = '';
      try {
        for await (const _ of gateway.session('main').export()) {
          if (++read === 1) await gateway.session('main').delete();
        }
      } catch (error) {
        ({ code } = error as { code: string });
      }
      expect(code).to.equal('SESSION_NOT_FOUND');
      expect(read).to.be.lessThan(1000);
    });

    it('comes over sockets in chunks, as many as are asked for, and can be cancelled', async () => {
      const { url, ask } = await setUp();
      for (const message of ['one', 'two']) await ask('send', { message });
      const socket = await openWebSocket(url);
      await socket.connect();
      socket.say({ type: 'req', id: '1', method: 'export', params: { sessionId: 'main' }, window: 1 });
      await socket.until((frame) => frame.type === 'chunk');
      socket.say({ type: 'more', id: '1', count: 100 });
      expect(await socket.until((frame) => frame.type === 'res')).to.deep.include({ id: '1', ok: true });
      const texts = socket.frames
        .filter(({ type }) => type === 'chunk')
        .map(({ data }) => data.content[0].text);
      expect(texts).to.deep.equal(['one', 'echo one', 'two', 'echo two']);
      socket.say({
        type: 'req',
        id: '2',
        method: 'export',
        params: { sessionId: 'main', what: 'events' },
        window: 1,
      });
      await socket.until(({ type, id }) => type === 'chunk' && id === '2');
      socket.say({ type: 'cancel', id: '2' });
      const cancelled = await socket.until(({ type, id }) => type === 'res' && id === '2');
      expect(cancelled.error).to.include({ code: 'ABORTED' });
      const missing = await socket.ask('3', 'export', { sessionId: 'none' });
      expect(missing.error).to.include({ code: 'SESSION_NOT_FOUND' });
    });

    it('begins a session and changes none; the same import again is the same', async () => {
      const { ask, history } = await setUp();
      const messages = [
        { id: 'a', content: 'one' },
        { id: 'b', role: 'assistant', content: 'two' },
      ];
      const first = await ask('import', { messages });
      expect((await ask('import', { messages })).body).to.deep.equal(first.body);
      await ask('send', { message: 'three' });
      expect((await ask('import', { messages })).body).to.deep.equal(first.body);
      expect(await history()).to.have.length(4);
      const other = [{ id: 'a', content: 'other' }];
      expect(await refused(ask('import', { messages: other }))).to.deep.equal([
        409,
        'SESSION_EXISTS',
        undefined,
      ]);
      await ask('send', { sessionId: 'talk', message: 'hi' });
      const talk = ask('import', { sessionId: 'talk', messages });
      expect(await refused(talk)).to.deep.equal([409, 'SESSION_EXISTS', undefined]);
      await ask('delete', {});
      expect((await ask('import', { messages: other })).body).to.include({ tip: 'a' });
    });

    it('needs the leave of the gateway, of clients only', async () => {
      const messages = [{ role: 'assistant', content: 'I promise' }];
      const none = await setUp({ clientMessages: {} });
      expect(await refused(none.ask('import', { messages }))).to.deep.equal([
        403,
        'ACCESS_DENIED',
        undefined,
      ]);
      await none.gateway.session('main').import(messages);
      expect(await none.history()).to.have.length(1);
      const broken = await setUp({
        clientMessages: {
          import: () => {
            throw new Error('no');
          },
        },
      });
      expect((await refused(broken.ask('import', { messages })))[1]).to.equal('ACCESS_DENIED');
      const some = await setUp({
        clientMessages: { import: async (_user: unknown, to: string) => to === 'default' },
      });
      expect((await some.ask('import', { messages })).status).to.equal(200);
    });

    it('needs it too where a host does it for the client of a request', async () => {
      const { gateway } = await setUp({ clientMessages: {} });
      const messages = [{ role: 'assistant', content: 'I promise' }];
      const url = await listenOnLoopback((request, response) => {
        const by = request.url === '/by' ? { by: { request, response } } : {};
        gateway.execute('import', { sessionId: 'main', messages }, by).then(
          () => response.end('ok'),
          (error: { code: string }) => response.end(error.code),
        );
      });
      const asked = async (path: string) =>
        (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
      expect(await asked('/by')).to.equal('ACCESS_DENIED');
      expect(await asked('/own')).to.equal('ok');
    });

    it('says who brought a message, not who is said to have written it', async () => {
      const { ask, history } = await setUp({
        auth: { type: 'token', token: TOKEN, user: { id: 'mallory' } },
        sessionScope: 'global',
      });
      const messages = [
        { content: 'I am Alice', senderId: 'alice' },
        {
          role: 'assistant',
          content: 'ok',
          senderId: 'alice',
          runId: 'run_1',
          app: 'bank',
          usage: { totalTokens: 9 },
        },
      ];
      await ask('import', { messages });
      const [one, two] = await history();
      expect(one).to.include({ senderId: 'mallory' });
      expect(two).to.not.have.any.keys('senderId', 'runId', 'app', 'usage');
    });

    it('begins a session in which nothing is said yet, once, which is listed and goes on', async () => {
      const { ask, history, url } = await setUp();
      const begun = { messages: [], title: 'Plans', metadata: { for: 'us' } };
      const first = await ask('import', begun);
      expect(first.body).to.include({ tip: null });
      expect((await ask('import', begun)).body).to.deep.equal(first.body);
      const { sessions } = (await get(`${url}/sessions`)).body;
      expect(sessions.find((each: any) => each.sessionId === first.body.sessionId)).to.deep.include({
        title: 'Plans',
        metadata: { for: 'us' },
      });
      expect((await refused(ask('import', { ...begun, title: 'Others' })))[1]).to.equal('SESSION_EXISTS');
      expect(await history()).to.deep.equal([]);
      await ask('send', { message: 'one' });
      expect(await history()).to.have.length(2);
      expect((await refused(ask('import', begun)))[1]).to.equal('SESSION_EXISTS');
    });

    it('names the field that is wrong', async () => {
      const { ask } = await setUp({ limits: { importedMessages: 3 } });
      const text = (content: string) => ({ content });
      const cases: [object, string][] = [
        [{ messages: [] }, 'messages'],
        [{ messages: ['a', 'b', 'c', 'd'].map(text) }, 'messages'],
        [{ messages: [text('a'), { content: [{ type: 'text' }] }] }, 'messages.1.content'],
        [{ messages: [text('a'), { ...text('b'), secret: 1 }] }, 'messages.1.secret'],
        [
          {
            messages: [
              { id: 'a', ...text('a') },
              { id: 'a', ...text('b') },
            ],
          },
          'messages.1.id',
        ],
        [
          {
            messages: [
              { id: 'a', ...text('a') },
              { parentId: null, ...text('b') },
            ],
          },
          'messages.1.parentId',
        ],
        [{ messages: [{ parentId: 'z', ...text('a') }] }, 'messages.0.parentId'],
        [
          { format: 'ui', messages: [{ role: 'user', parts: [{ type: 'text' }] }] },
          'messages.0.parts.0.text',
        ],
        [{ format: 'ui', messages: [{ role: 'user', parts: [{ type: 'odd' }] }] }, 'messages.0.parts.0.type'],
        [{ format: 'openai', messages: [{ role: 'user' }] }, 'messages.0.content'],
        [{ format: 'odd', messages: [text('a')] }, 'format'],
      ];
      for (const [body, path] of cases) {
        const [status, code, named] = await refused(ask('import', body));
        expect([status, code], JSON.stringify(body)).to.deep.equal([400, 'INVALID_PARAMS']);
        expect(String(named).startsWith(path), `${path}: ${named}`).to.equal(true);
      }
      const image = { type: 'image', mediaType: 'image/png', fileId: 'file_none' };
      expect(await refused(ask('import', { messages: [{ content: [image] }, text('b')] }))).to.deep.equal([
        404,
        'FILE_NOT_FOUND',
        'messages.0.content.0.fileId',
      ]);
    });

    it('reads the messages of OpenAI chat completions', async () => {
      const { ask, history } = await setUp();
      const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":"x"}' } };
      await ask('import', {
        format: 'openai',
        messages: [
          { role: 'developer', content: 'Be short' },
          { role: 'user', content: [{ type: 'text', text: 'Find x' }] },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c1', content: 'found' },
          { role: 'assistant', content: 'There' },
        ],
      });
      const told = (await history()).map(({ role, content }) => [role, content]);
      expect(told).to.deep.equal([
        ['system', [{ type: 'text', text: 'Be short' }]],
        ['user', [{ type: 'text', text: 'Find x' }]],
        ['assistant', [{ type: 'tool_use', callId: 'c1', name: 'find', input: { q: 'x' } }]],
        ['tool', [{ type: 'tool_result', callId: 'c1', name: 'find', output: 'found', isError: false }]],
        ['assistant', [{ type: 'text', text: 'There' }]],
      ]);
    });
  });
}
