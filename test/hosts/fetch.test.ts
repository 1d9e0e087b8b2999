import { once } from 'node:events';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { createGateway, type GatewayConfig, type GatewayPlugin, method } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { echo, heldApp } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { RawStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const BASE = 'http://gateway.test';

function fetchGateway(config: Partial<GatewayConfig<any>> = {}) {
  const logger = new TestLogger();
  const limits = { drainMs: 0, ...config.limits };
  const gateway = createGateway({ app: echo, auth: byName, embedded: true, logger, ...config, limits });
  return closeLater(gateway, (it) => it.close());
}

function posting(path: string, body: unknown, init: RequestInit = {}): Request {
  return new Request(BASE + path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
    headers: { ...as('alice'), 'content-type': 'application/json', ...init.headers },
  });
}

const getting = (path: string, init: RequestInit = {}) =>
  new Request(BASE + path, { ...init, headers: { ...as('alice'), ...init.headers } });

/** Turns of the event loop, enough for whatever needs nothing from outside to come to rest. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 2000; turn++) await new Promise(setImmediate);
}

describe('gateway.fetch', () => {
  it('answers requests as over a network, also when it is taken from its gateway', async () => {
    const { fetch } = fetchGateway({ methods: { nothing: async () => undefined } });
    const status = await fetch(getting('/status'));
    expect(status.status).to.equal(200);
    expect(status.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(status.headers.get('connection')).to.equal(null);
    expect((await status.json()).user).to.deep.equal({ id: 'alice' });
    const nothing = await fetch(posting('/invoke', { method: 'nothing' }));
    expect([nothing.status, nothing.body]).to.deep.equal([204, null]);
    const head = await fetch(getting('/healthz', { method: 'HEAD' }));
    expect([head.status, head.body, head.headers.get('content-length')]).to.deep.equal([200, null, '11']);
  });

  it('takes nothing from a second argument that is not its own: frameworks hand their handlers a context', async () => {
    const { fetch } = fetchGateway();
    const context = { params: Promise.resolve({ path: ['send'] }) } as object;
    expect((await fetch(getting('/sessions?limit=1'), context)).status).to.equal(200);
    const headers = { accept: 'application/json' };
    const sent = await fetch(posting('/send', { sessionId: 'main', message: 'hi' }, { headers }), context);
    expect([sent.status, textOf((await sent.json()).message)]).to.deep.equal([200, 'echo: hi']);
    expect((await fetch(posting('/sessions', {}), context)).status).to.equal(405);
  });

  it('answers what is wrong in the gateway’s form', async () => {
    const gateway = fetchGateway();
    const missing = await gateway.fetch(getting('/nothing'));
    expect([missing.status, (await missing.json()).error.code]).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
    const nobody = await gateway.fetch(new Request(`${BASE}/status`));
    expect([nobody.status, nobody.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer']);
    const foreign = await gateway.fetch(getting('/status', { headers: { origin: 'https://evil.test' } }));
    expect((await foreign.json()).error.code).to.equal('ORIGIN_DENIED');
    const own = await gateway.fetch(getting('/status', { headers: { origin: BASE } }));
    expect(own.status).to.equal(200);
    const wrong = await gateway.fetch(getting('/send'));
    expect([wrong.status, wrong.headers.get('allow')]).to.deep.equal([405, 'POST']);
    const text = await gateway.fetch(posting('/send', 'x', { headers: { 'content-type': 'text/plain' } }));
    expect(text.status).to.equal(415);
  });

  it('is mounted below a path, and takes the user and the body from its host', async () => {
    const { fetch } = fetchGateway({ methods: { echo: async (params: unknown) => params } });
    const user = { id: 'carol' };
    const status = await fetch(new Request(`${BASE}/api/agent/status`), { basePath: '/api/agent', user });
    expect((await status.json()).user).to.deep.equal({ id: 'carol' });
    expect((await fetch(getting('/status'), { basePath: '/api/agent' })).status).to.equal(404);
    const request = posting('/invoke', { method: 'echo', params: { a: 1 } });
    const body = await request.json();
    expect(await (await fetch(request, { body })).json()).to.deep.equal({ a: 1 });
    const read = posting('/invoke', { method: 'echo' });
    await read.text();
    expect((await fetch(read)).status).to.equal(400);
  });

  it('returns the response with the head, and its events as they come', async () => {
    const { app, began, held } = heldApp();
    const { fetch } = fetchGateway({ app });
    const response = await fetch(posting('/send', { sessionId: 'main', message: 'x' }));
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    const stream = new RawStream(response, new AbortController());
    await began.passed;
    expect((await stream.until(({ event }) => event === 'content_delta')).data.delta).to.equal('working ');
    held.open();
    await stream.ended;
    expect(stream.events.at(-1)!.event).to.equal('message_end');
  });

  for (const leave of ['cancels the body', 'aborts the request']) {
    it(`takes who ${leave} for gone`, async () => {
      const gateway = fetchGateway();
      const gone = gate();
      gateway.on('client:disconnected', () => gone.open());
      const abort = new AbortController();
      const response = await gateway.fetch(getting('/events?sessionId=main', { signal: abort.signal }));
      const reader = response.body!.getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).to.include('event: connected');
      if (leave.startsWith('aborts')) abort.abort();
      else await reader.cancel();
      await gone.passed;
      // What was sent before is still there; then it ends without a failure.
      while (!(await reader.read()).done);
    });
  }

  it('aborts a call whose request is aborted before it is answered', async () => {
    const entered = gate();
    const aborted = gate();
    const { fetch } = fetchGateway({
      methods: {
        wait: method({
          handler: async (_params, { signal }) => {
            entered.open();
            await once(signal, 'abort');
            aborted.open();
          },
        }),
      },
    });
    const abort = new AbortController();
    const answer = fetch(posting('/invoke', { method: 'wait' }, { signal: abort.signal })).catch((it) => it);
    await entered.passed;
    abort.abort(new Error('enough'));
    expect((await answer).message).to.equal('enough');
    await aborted.passed;
    expect(await fetch(getting('/status', { signal: abort.signal })).catch((it) => it.message)).to.equal(
      'enough',
    );
  });

  it('makes no more than is read', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    closeLater(process.on('warning', warn), (it) => it.off('warning', warn));
    let made = 0;
    const { fetch } = fetchGateway({
      methods: {
        async *many() {
          for (; made < 500; made++) yield 'x'.repeat(8192);
        },
      },
    });
    const response = await fetch(posting('/invoke', { method: 'many' }));
    await rest();
    expect(made).to.be.within(1, 20);
    const text = await response.text();
    expect(made).to.equal(500);
    expect(text.match(/^event: chunk$/gm)).to.have.length(500);
    expect(text).to.match(/event: end\n/);
    // Listeners that pile up on the response.
    expect(warnings).to.deep.equal([]);
  });

  it('cuts a reader that stands still, and says so', async () => {
    const flood = {
      async *run() {
        for (let at = 0; at < 100; at++) yield 'x'.repeat(16_384);
      },
    };
    const gateway = fetchGateway({ app: flood as never, limits: { slowClientMs: 50 } });
    const gone = gate();
    gateway.on('client:disconnected', () => gone.open());
    const response = await gateway.fetch(getting('/events?sessionId=main&from=earliest'));
    await (
      await gateway.fetch(
        posting('/send', { sessionId: 'main', message: 'x' }, { headers: { accept: 'application/json' } }),
      )
    ).json();
    await gone.passed;
    const error = await response.text().catch((it) => it);
    expect(error).to.include({ code: 'INTERNAL', message: 'The response was cut off' });
  });

  it('reads a body chunk by chunk, within the bound, and leaves the rest', async () => {
    const { fetch } = fetchGateway({
      limits: { bodyBytes: 1000, conversationBytes: 1000 },
      methods: { length: async ({ text }: any) => text.length },
    });
    const left = gate();
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new TextEncoder().encode('x'.repeat(100)));
      },
      cancel: () => left.open(),
    });
    const refused = await fetch(posting('/invoke', '', { body: endless, duplex: 'half' } as never));
    expect([refused.status, (await refused.json()).error.code]).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
    await left.passed;
    expect(pulled).to.be.below(50);
    const json = JSON.stringify({ method: 'length', params: { text: 'é'.repeat(50) } });
    const pieces = [...new TextEncoder().encode(json)].map((byte) => new Uint8Array([byte]));
    const slow = new ReadableStream({
      async pull(controller) {
        await new Promise(setImmediate);
        const next = pieces.shift();
        if (next) controller.enqueue(next);
        else controller.close();
      },
    });
    const answer = await fetch(posting('/invoke', '', { body: slow, duplex: 'half' } as never));
    expect(await answer.json()).to.equal(50);
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) });
    const cut = await fetch(posting('/invoke', '', { body: broken, duplex: 'half' } as never)).catch(
      (it) => it,
    );
    expect(cut).to.include({ code: 'INTERNAL' });
  });

  it('brings plugins what they know from Node', async () => {
    const seen: unknown[] = [];
    const plugin: GatewayPlugin = {
      name: 'plain',
      setup: ({ route }) =>
        route('/plain', async ({ request, response, path }) => {
          seen.push(
            path,
            request.method,
            request.headers.host,
            request.headers['x-two'],
            request.httpVersion,
          );
          const chunks: Buffer[] = [];
          for await (const chunk of request) chunks.push(chunk);
          response.setHeader('Set-Cookie', ['a=1', 'b=2']).statusCode = 201;
          response.writeContinue();
          for (let at = 0; at < 100; at++) {
            if (!response.write('y'.repeat(4096))) await once(response, 'drain');
          }
          response.end(Buffer.concat(chunks));
          await once(response, 'finish');
          seen.push(response.writableFinished);
        }),
    };
    const gateway = fetchGateway().use(plugin);
    const headers = new Headers([
      ['x-two', '1'],
      ['x-two', '2'],
    ]);
    const response = await gateway.fetch(
      new Request(`${BASE}/plain/below?q`, { method: 'PUT', body: 'abc', headers }),
    );
    expect(response.status).to.equal(201);
    expect(response.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2']);
    const text = await response.text();
    expect([text.length, text.slice(-4)]).to.deep.equal([409_603, 'yabc']);
    await rest();
    expect(seen).to.deep.equal(['/plain/below', 'PUT', 'gateway.test', '1, 2', '1.1', true]);
  });

  it('limits failed attempts by the address that the host tells', async () => {
    const token = 'a-test-token-of-more-than-32-bytes';
    const { fetch } = fetchGateway({ auth: { type: 'token', token } });
    const guess = (ip?: string) =>
      fetch(getting('/status', { headers: { authorization: 'Bearer no' } }), { ip });
    for (let at = 0; at < 10; at++) expect((await guess('192.0.2.1')).status).to.equal(401);
    expect((await guess('192.0.2.1')).status).to.equal(429);
    expect((await guess('192.0.2.2')).status).to.equal(401);
    expect((await guess()).status).to.equal(401);
  });

  it('is a fetch for the client', async () => {
    const { fetch } = fetchGateway();
    const client = createClient({
      baseUrl: BASE,
      token: 'alice',
      fetch: (input, init) => fetch(new Request(input, init)),
    });
    closeLater(client, (it) => it.disconnect());
    const events = client.events('main', { from: 'earliest' });
    const { message } = await client.send('main', 'hello').result;
    expect(textOf(message)).to.equal('echo: hello');
    expect((await events.next()).value.type).to.equal('message_accepted');
  });
});
