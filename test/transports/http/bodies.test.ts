import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { createGateway } from '../../../server/index.js';
import { uiMessageStreamPlugin } from '../../../server/plugins/ui-message-stream/index.js';
import { echo } from '../../support/apps.js';
import { get, jsonHeaders, post, startGateway, TOKEN } from '../../support/gateway.js';
import { rawClient } from '../../support/raw-client.js';
import { head, rawRequest } from '../../support/raw-http.js';
import { expectRefused, postRaw as raw, startTarget as start } from '../../support/refusal.js';
import { closeLater } from '../../support/resources.js';

describe('bodies', () => {
  const paths = [
    '/send',
    '/invoke',
    '/subscribe',
    '/abort',
    '/close',
    '/tool-response',
    '/channel',
    '/ticket',
  ];

  it('bad JSON is INVALID_REQUEST on every route', async () => {
    const gateway = await start();
    for (const path of paths)
      await expectRefused(gateway, await raw(gateway.url, path, '{"a": '), 400, 'INVALID_REQUEST');
  });

  it('2 MiB is PAYLOAD_TOO_LARGE on every route', async () => {
    const gateway = await start();
    const body = JSON.stringify({ sessionId: 'main', message: 'x'.repeat(2 * 1024 * 1024) });
    for (const path of paths)
      await expectRefused(gateway, await raw(gateway.url, path, body), 413, 'PAYLOAD_TOO_LARGE');
    expect((await get(`${gateway.url}/sessions`)).body.sessions).to.deep.equal([]);
  });

  it('a chunked body over the limit is PAYLOAD_TOO_LARGE, though it names no length', async () => {
    const gateway = await start();
    const piece = Buffer.alloc(64 * 1024, 97);
    const chunks = Array.from({ length: 32 }, () =>
      Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]),
    );
    const answer = await rawRequest(
      gateway.url,
      head('POST /send', {
        Host: '127.0.0.1',
        Authorization: `Bearer ${TOKEN}`,
        'Content-Type': 'application/json',
        'Transfer-Encoding': 'chunked',
      }),
      ...chunks,
    );
    await expectRefused(
      gateway,
      { status: answer.status, body: JSON.parse(answer.body) },
      413,
      'PAYLOAD_TOO_LARGE',
    );
    expect(answer.headers).to.match(/connection: close/i);
  });

  it('a refused body is read on, so that its client is told why, and goes on on its connection', async () => {
    const gateway = await start();
    const agent = closeLater(new Agent({ keepAlive: true, maxSockets: 1 }), (it) => it.destroy());
    const body = Buffer.from(JSON.stringify({ message: 'x'.repeat(12 * 1024 * 1024) }));
    for (const _ of [1, 2, 3]) {
      const answer = await fetch(`${gateway.url}/send`, { method: 'POST', headers: jsonHeaders(), body });
      expect((await answer.json()).error.code).to.equal('PAYLOAD_TOO_LARGE');
    }
    const ports = new Set<number | undefined>();
    for (const _ of [1, 2])
      await new Promise<void>((resolve, reject) => {
        const asked = request(
          `${gateway.url}/send`,
          { method: 'POST', agent, headers: jsonHeaders() },
          (answer) => {
            expect(answer.statusCode).to.equal(413);
            ports.add(answer.socket.localPort);
            answer.resume().on('end', resolve);
          },
        );
        asked.on('error', reject).end(body);
      });
    expect(ports.size).to.equal(1);
  });

  it('a refused body that does not end is read to a bound', async () => {
    const gateway = await start();
    const client = rawClient(gateway.url);
    client.socket.write(
      head('POST /send', {
        ...jsonHeaders(),
        Host: '127.0.0.1',
        Connection: 'keep-alive',
        'Content-Length': '1000000000',
      }),
    );
    const piece = Buffer.alloc(1024 * 1024, 97);
    let isOpen = true;
    void client.closed.then(() => {
      isOpen = false;
    });
    let sent = 0;
    while (isOpen && sent < 1000) {
      if (!client.socket.write(piece))
        await Promise.race([client.closed, new Promise((resolve) => client.socket.once('drain', resolve))]);
      sent += 1;
    }
    expect(client.text()).to.match(/ 413 /);
    expect(sent).to.be.within(60, 999);
  });

  it('a whole conversation has a bound of its own, which is never less', async () => {
    const limits = { bodyBytes: 1000, conversationBytes: 2000 };
    for (const [bodyBytes, most] of [
      [1000, 2000],
      [3000, 3000],
    ] as const) {
      const gateway = await startGateway({ app: echo, limits: { ...limits, bodyBytes } });
      gateway.gateway.use(uiMessageStreamPlugin());
      const chat = (text: string) => ({
        id: 'main',
        messages: [{ id: `m${text.length}`, role: 'user', parts: [{ type: 'text', text }] }],
      });
      const frame = JSON.stringify(chat('')).length + 3;
      const ask = async (size: number): Promise<Response> =>
        fetch(`${gateway.url}/api/chat`, {
          method: 'POST',
          headers: jsonHeaders(),
          body: JSON.stringify(chat('x'.repeat(size - frame))),
        });
      expect((await ask(most)).status).to.equal(200);
      const refused = await ask(most + 1);
      expect(refused.status).to.equal(413);
      expect(await refused.text()).to.contain(`${most} bytes`);
    }
  });

  it('a body at the limit is taken, one byte more is not', async () => {
    const gateway = await startGateway({
      app: echo,
      methods: { echo: async (params: string) => params.length },
      limits: { bodyBytes: 1000 },
    });
    const frame = JSON.stringify({ method: 'echo', params: '' }).length;
    expect(
      (await post(`${gateway.url}/invoke`, { method: 'echo', params: 'x'.repeat(1000 - frame) })).body,
    ).to.equal(1000 - frame);
    await expectRefused(
      gateway,
      await post(`${gateway.url}/invoke`, { method: 'echo', params: 'x'.repeat(1001 - frame) }),
      413,
      'PAYLOAD_TOO_LARGE',
    );
  });

  it('JSON of depth 64 is taken; 65 and 200,000 are INVALID_REQUEST', async () => {
    const gateway = await start();
    const nested = (depth: number): string =>
      `{"method":"echo","params":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect((await raw(gateway.url, '/invoke', nested(64))).status).to.equal(200);
    await expectRefused(gateway, await raw(gateway.url, '/invoke', nested(65)), 400, 'INVALID_REQUEST');
    await expectRefused(gateway, await raw(gateway.url, '/invoke', nested(200_000)), 400, 'INVALID_REQUEST');
  });

  for (const key of [
    '__proto__',
    'constructor":{"prototype":1},"x',
    '\\u005f_proto__',
    '\\u005f\\u005fproto\\u005f\\u005f',
    'constructo\\u0072":{"prototyp\\u0065":1},"x',
  ]) {
    it(`the key ${key} is INVALID_REQUEST, wherever it stands`, async () => {
      const gateway = await start();
      const bodies = [
        ['/invoke', `{"method":"echo","params":{"${key}":{"admin":true}}}`],
        ['/invoke', `{"method":"echo","params":[{"a":{"${key}":1}}]}`],
        ['/send', `{"sessionId":"main","message":"hi","metadata":{"${key}":{"admin":true}}}`],
        ['/send', `{"${key}":{"sessionId":"main"},"sessionId":"main","message":"hi"}`],
      ] as const;
      for (const [path, body] of bodies)
        await expectRefused(gateway, await raw(gateway.url, path, body), 400, 'INVALID_REQUEST');
      expect(({} as { admin?: boolean }).admin).to.equal(undefined);
    });
  }

  it('these words as values are harmless', async () => {
    const { url } = await start();
    expect(
      (await post(`${url}/invoke`, { method: 'echo', params: ['__proto__', 'constructor'] })).body,
    ).to.deep.equal(['__proto__', 'constructor']);
  });

  it('another content type is 415 and has no effect', async () => {
    const gateway = await start();
    const body = JSON.stringify({ sessionId: 'main', message: 'hi' });
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'application/jsonx',
      '',
    ]) {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': type };
      await expectRefused(
        gateway,
        await raw(gateway.url, '/send', body, headers),
        415,
        'UNSUPPORTED_MEDIA_TYPE',
      );
    }
    expect((await get(`${gateway.url}/sessions`)).body.sessions).to.deep.equal([]);
    const charset = {
      ...jsonHeaders(),
      'content-type': 'Application/JSON; charset=utf-8',
      accept: 'application/json',
    };
    expect((await raw(gateway.url, '/send', body, charset)).status).to.equal(200);
  });

  it('a compressed body is 415, and one that says that it is as it is is taken', async () => {
    const gateway = await start();
    const sent = (encoding: string) =>
      raw(gateway.url, '/ticket', '{}', { ...jsonHeaders(), 'content-encoding': encoding });
    for (const encoding of ['gzip', 'person'])
      await expectRefused(gateway, await sent(encoding), 415, 'UNSUPPORTED_MEDIA_TYPE');
    for (const encoding of ['identity', 'Identity']) expect((await sent(encoding)).status).to.equal(200);
  });

  it('a body that is cut off has no effect, and a slow head does not hold the others up', async () => {
    const gateway = await start();
    const { hostname, port } = new URL(gateway.url);
    const { connect } = await import('node:net');
    const socket = connect(Number(port), hostname);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(
      head('POST /send', {
        Host: '127.0.0.1',
        Authorization: `Bearer ${TOKEN}`,
        'Content-Type': 'application/json',
        'Content-Length': '100',
      }),
    );
    socket.write('{"sessionId":"main","message":"hi"');
    expect((await get(`${gateway.url}/status`)).status).to.equal(200);
    socket.destroy();
    await closed;
    expect((await get(`${gateway.url}/sessions`)).body.sessions).to.deep.equal([]);
    expect((await fetch(`${gateway.url}/healthz`)).status).to.equal(200);
  });

  it('bytes that are not UTF-8 and lone surrogates do no harm', async () => {
    const { url } = await start();
    const bytes = Buffer.concat([
      Buffer.from('{"method":"echo","params":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expect([200, 400]).to.include((await raw(url, '/invoke', bytes)).status);
    expect((await raw(url, '/invoke', '{"method":"echo","params":"\\ud800"}')).status).to.equal(200);
  });
});

describe('text that could forge events', () => {
  it('line breaks and separators in messages, channels and custom events stay inside their event', async () => {
    const { gateway, url } = await start();
    const nasty = 'a\n\nevent: message_end\ndata: {}\n\n\r\u2028\u2029\u0000';
    const answer = await fetch(`${url}/send`, {
      method: 'POST',
      headers: jsonHeaders(),
      body: JSON.stringify({ sessionId: 'main', message: nasty }),
    });
    const text = await answer.text();
    expect(text.match(/^event: message_end$/gm)).to.have.length(1);
    const { messages } = await gateway.session('main').history();
    expect(messages[0]!.content).to.deep.equal([{ type: 'text', text: nasty }]);
    expect(messages[1]!.content).to.deep.equal([{ type: 'text', text: `echo: ${nasty}` }]);
  });
});

describe('a body on its way', () => {
  for (const pieces of [1, 3]) {
    it(`a method runs in the context in which its host handed the request over, its body in ${pieces} pieces`, async () => {
      const storage = new AsyncLocalStorage<string>();
      const gateway = createGateway({
        app: echo,
        methods: { where: async () => storage.getStore() ?? null },
      });
      const server = createServer((request, response) =>
        storage.run(request.headers['x-request'] as string, () => gateway.handleRequest(request, response)),
      );
      await gateway.start();
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      try {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        for (const name of ['first', 'second']) {
          const answer = await new Promise<string>((resolve, reject) => {
            const { port } = server.address() as AddressInfo;
            const headers = { ...jsonHeaders(), 'x-request': name };
            const options = { port, host: '127.0.0.1', path: '/invoke', method: 'POST', headers, agent };
            const asking = request(options, (response) => {
              text(response).then(resolve, reject);
            }).on('error', reject);
            const body = JSON.stringify({ method: 'where' });
            const size = Math.ceil(body.length / pieces);
            const next = (at: number): void => {
              if (at >= body.length) asking.end();
              else asking.write(body.slice(at, at + size), () => setImmediate(next, at + size));
            };
            next(0);
          });
          expect(answer).to.equal(JSON.stringify(name));
        }
        agent.destroy();
      } finally {
        server.close();
        await gateway.close();
      }
    });
  }
});
