import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type ClientOptions, createClient, sseTransport } from '../../client/index.js';
import { encodeSse } from '../../shared/sse.js';
import { at, info, logged, seqs, take } from './scripted.js';

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown> | undefined;
}

type Handler = (seen: Seen, response: ServerResponse) => void;

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** In letters that some proxy chose. */
const streamHead = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'Text/Event-Stream;charset=UTF-8' });

const connected = (sessions: object) =>
  encodeSse(
    'connected',
    JSON.stringify({
      protocol: 1,
      gatewayId: 'g',
      connectionId: 'conn',
      clientId: 'conn',
      heartbeatMs: 15_000,
      defaultApp: 'default',
      sessions,
    }),
  );

const encode = (seq: number, over: object = {}) => {
  const { type, ...data } = logged(seq, 'custom', over);
  return encodeSse(type, JSON.stringify(data), at(seq));
};

describe('sseTransport', () => {
  let server: Server;
  let base: string;
  let seen: Seen[];
  let handlers: Record<string, Handler>;
  let close: (() => void)[];

  beforeEach(async () => {
    seen = [];
    handlers = {};
    close = [];
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const url = new URL(request.url!, 'http://localhost');
        const text = Buffer.concat(chunks).toString();
        const { method = '', headers } = request;
        const entry = {
          method,
          path: url.pathname,
          query: url.searchParams,
          headers,
          body: text ? JSON.parse(text) : undefined,
        };
        seen.push(entry);
        const handler = handlers[url.pathname];
        if (handler) handler(entry, response);
        else response.writeHead(404).end('nothing here');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
  });
  afterEach(async () => {
    for (const run of close) run();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const connect = (options: ClientOptions = {}) => {
    const client = createClient({ baseUrl: base, ...options });
    close.push(() => client.disconnect());
    return client;
  };
  const failure = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

  it('sends JSON with its headers and reads JSON, 204 and typed errors', async () => {
    handlers['/agent/invoke'] = ({ body }, response) => {
      if (body?.method === 'void') response.writeHead(204).end();
      else if (body?.method === 'deny')
        json(response, 403, { error: { code: 'GUARD_DENIED', message: 'no', guardType: 'role' } });
      else json(response, 200, { pong: true });
    };
    const client = connect({ baseUrl: `${base}/`, headers: async () => ({ 'x-app': 'one' }) });
    expect(await client.invoke('ping', { a: 1 })).to.deep.equal({ pong: true });
    expect(seen[0]).to.deep.include({ method: 'POST', body: { method: 'ping', params: { a: 1 } } });
    expect(seen[0]!.headers).to.include({ 'x-app': 'one', 'content-type': 'application/json' });
    expect(await client.invoke('void')).to.equal(undefined);
    expect(await failure(client.invoke('deny'))).to.include({
      name: 'GuardError',
      status: 403,
      guardType: 'role',
    });
  });

  it('asks GET operations in the query', async () => {
    handlers['/agent/history'] = (_, response) =>
      json(response, 200, { messages: [], cursor: null, hasMore: false });
    await connect().session('app:main').history({ limit: 3 });
    expect(seen[0]!.method).to.equal('GET');
    expect(Object.fromEntries(seen[0]!.query)).to.deep.equal({ sessionId: 'app:main', limit: '3' });
    expect(seen[0]!.body).to.equal(undefined);
  });

  it('reads the token again at each request, and once more after a 401', async () => {
    const asked: boolean[] = [];
    const token = ({ refresh }: { refresh: boolean }) => {
      asked.push(refresh);
      return refresh ? 'fresh' : 'stale';
    };
    handlers['/agent/apps'] = ({ headers }, response) =>
      headers.authorization === 'Bearer fresh'
        ? json(response, 200, { apps: [] })
        : json(response, 401, { error: { code: 'UNAUTHENTICATED', message: 'who' } });
    expect(await connect({ token }).apps()).to.deep.equal({ apps: [] });
    expect(asked).to.deep.equal([false, true]);
    seen.length = 0;
    expect(await failure(connect({ token: 'wrong' }).apps())).to.include({
      code: 'UNAUTHENTICATED',
      status: 401,
    });
    // A text is what it is.
    expect(seen).to.have.length(1);
  });

  it('gives answers that are not ours a code of the table', async () => {
    const answers: [number, string][] = [
      [401, 'UNAUTHENTICATED'],
      [404, 'NETWORK'],
      [418, 'NETWORK'],
      [502, 'NETWORK'],
    ];
    for (const [status, code] of answers) {
      handlers['/agent/close'] = (_, response) => response.writeHead(status).end('<html>');
      expect(await failure(connect().close('main'))).to.include({ code, status });
    }
    handlers['/agent/close'] = (_, response) => response.writeHead(429, { 'retry-after': '2' }).end();
    expect(await failure(connect().close('main'))).to.include({ code: 'RATE_LIMITED', retryAfterMs: 2000 });
    handlers['/agent/close'] = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    expect(await failure(connect().close('main'))).to.include({ code: 'NETWORK' });
    handlers['/agent/close'] = (_, response) => response.destroy();
    expect(await failure(connect().close('main'))).to.include({ code: 'NETWORK', status: 0 });
  });

  it('sends, follows the run over one stream and resolves its result', async () => {
    const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'Hi' }], createdAt: 1 };
    handlers['/agent/send'] = (_, response) =>
      json(response, 202, { runId: 'r', message, position: 0, cursor: at(4) });
    handlers['/agent/events'] = (_, response) => {
      const end = { sessionId: 'main', cursor: at(6), ts: 1, runId: 'r', stopReason: 'end', message };
      const delta = { sessionId: 'main', cursor: at(5), ts: 1, runId: 'r', delta: 'Grüße 👋', index: 0 };
      streamHead(response).write(connected({ main: info(5, { resume: 'exact' }) }));
      response.write(encodeSse('content_delta', JSON.stringify(delta), at(5)));
      response.write(encodeSse('message_end', JSON.stringify(end), at(6)));
    };
    const client = connect();
    const run = client.send('main', 'Hi');
    const texts: string[] = [];
    for await (const text of run.text) texts.push(text);
    expect(texts).to.deep.equal(['Grüße 👋']);
    expect(await run.result).to.include({ stopReason: 'end', cursor: at(6) });
    expect(seen[0]!.headers).to.include({ prefer: 'respond-async' });
    expect(seen[1]!.headers).to.include({ 'last-event-id': at(4), accept: 'text/event-stream' });
  });

  it('resumes after a cut with a plain cursor for one session and a vector for several', async () => {
    let attempt = 0;
    handlers['/agent/events'] = (_, response) => {
      attempt++;
      streamHead(response).write('retry: 1\n\n');
      if (attempt === 1) response.end(connected({ main: info(1) }) + encode(1));
      else if (attempt === 2) {
        response.write(connected({ main: info(2, { resume: 'exact' }) }) + encode(2));
        close.push(() => response.end());
      } else
        response.write(
          connected({ main: info(3), other: info(1) }) + encode(3) + encode(1, { sessionId: 'other' }),
        );
    };
    const added = new Promise<void>((resolve) => {
      handlers['/agent/subscribe'] = (_, response) => {
        json(response, 200, { subscriptions: [] });
        resolve();
      };
    });
    const client = connect();
    const events = client.events('main');
    expect(seqs(await take(events, 2))).to.deep.equal([1, 2]);
    expect([...seen[0]!.query]).to.deep.equal([
      ['from', 'run'],
      ['sessionId', 'main'],
    ]);
    expect(seen[0]!.headers).not.to.have.property('last-event-id');
    expect(seen[1]!.headers).to.include({ 'last-event-id': at(2 - 1) });
    const other = client.events('other', { from: at(0) });
    await added;
    for (const run of close.splice(1)) run();
    expect(seqs(await take(other, 1))).to.deep.equal([1]);
    const reopened = seen.filter(({ path }) => path === '/agent/events')[2]!;
    expect(reopened.headers['last-event-id']).to.equal(`~main=${at(2)},other=${at(0)}`);
    expect(seen.find(({ path }) => path === '/agent/subscribe')!.body).to.deep.equal({
      connectionId: 'conn',
      add: [{ sessionId: 'other', cursor: at(0) }],
    });
  });

  it('names up to 8 sessions of one start in the URL and adds the others to the stream', async () => {
    const subscribed = new Promise<Seen>((resolve) => {
      handlers['/agent/subscribe'] = (entry, response) => {
        json(response, 200, { subscriptions: [] });
        resolve(entry);
      };
    });
    handlers['/agent/events'] = (_, response) => {
      streamHead(response).write(
        connected(Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`s${n}`, info(n + 1)]))),
      );
    };
    const client = connect();
    for (let index = 0; index < 9; index++) client.events(`s${index}`, { from: at(index) });
    client.events('snap', { from: 'snapshot' });
    const { body } = await subscribed;
    expect(seen[0]!.query.has('from')).to.equal(false);
    expect(seen[0]!.query.getAll('sessionId')).to.deep.equal([
      's0',
      's1',
      's2',
      's3',
      's4',
      's5',
      's6',
      's7',
    ]);
    expect(seen[0]!.headers['last-event-id']).to.match(/^~s0=.*,s7=[^,]*$/);
    expect(body).to.deep.equal({
      connectionId: 'conn',
      add: [
        { sessionId: 's8', cursor: at(8) },
        { sessionId: 'snap', from: 'snapshot' },
      ],
    });
  });

  it('reads characters and lines that are cut anywhere', async () => {
    const bytes = Buffer.from(
      connected({ main: info(1) }) + encode(1, { payload: 'Grüße\u2028👋' }) + encode(2),
    );
    handlers['/agent/events'] = (_, response) => {
      streamHead(response);
      let sent = 0;
      const next = () => {
        if (sent < bytes.length) response.write(bytes.subarray(sent, ++sent), () => setImmediate(next));
      };
      next();
    };
    const [first] = await take(connect().events('main'), 2);
    expect(first).to.include({ payload: 'Grüße\u2028👋' });
  });

  it('refreshes a refused token when it opens the stream, and gives up when that is refused too', async () => {
    handlers['/agent/events'] = ({ headers }, response) =>
      headers.authorization === 'Bearer fresh'
        ? void streamHead(response).write(connected({ main: info(1) }) + encode(1))
        : void json(response, 401, { error: { code: 'UNAUTHENTICATED', message: 'who' } });
    const client = connect({ token: ({ refresh }) => (refresh ? 'fresh' : 'stale') });
    expect(await take(client.events('main'), 1)).to.have.length(1);
    const refused = connect({ token: 'stale' });
    expect(await failure(refused.events('main').next())).to.have.property('code', 'UNAUTHENTICATED');
    expect(refused.connection).to.have.property('state', 'closed');
  });

  it('streams a method: items, its failure, and a cancelled call', async () => {
    const gone = new Promise<void>((resolve) => {
      handlers['/agent/invoke'] = ({ body }, response) => {
        streamHead(response).write(encodeSse('chunk', '{"n":1}') + encodeSse('chunk', '{"n":2}'));
        if (body?.method === 'fails') response.end(encodeSse('fail', '{"code":"INTERNAL","message":"no"}'));
        else if (body?.method === 'breaks') response.end();
        else if (body?.method === 'ends') response.end(encodeSse('end', '{}'));
        else response.on('close', resolve);
      };
    });
    const client = connect();
    const items: unknown[] = [];
    for await (const item of client.stream('ends', { a: 1 })) items.push(item);
    expect(items).to.deep.equal([{ n: 1 }, { n: 2 }]);
    expect(await failure(take(client.stream('fails'), 3))).to.have.property('code', 'INTERNAL');
    expect(await failure(take(client.stream('breaks'), 3))).to.have.property('code', 'NETWORK');
    expect(await failure(client.invoke('ends'))).to.have.property('code', 'INVALID_REQUEST');
    for await (const _ of client.stream('endless')) break;
    await gone;
  });

  it('calls the fetch it is given without a receiver', async () => {
    let receiver: unknown = 'unset';
    const fetch = async function (this: unknown) {
      receiver = this;
      return new Response('{"apps":[]}', { headers: { 'content-type': 'application/json' } });
    } as typeof globalThis.fetch;
    const transport = sseTransport({ baseUrl: 'http://gateway.test/agent', fetch, credentials: 'include' });
    await transport.request('apps', {}, { signal: new AbortController().signal });
    expect(receiver).to.equal(undefined);
  });
});
