import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import express from 'express';
import WebSocket from 'ws';
import { channels } from '../../../server/diagnostics/index.js';
import { gatewayMiddleware, getContext, tool } from '../../../server/index.js';
import { mcpServerPlugin } from '../../../server/plugins/mcp/index.js';
import { echo } from '../../support/apps.js';
import { get, jsonHeaders, post, preflight, startGateway, TestLogger, TOKEN } from '../../support/gateway.js';
import { listenOnLoopback } from '../../support/host-server.js';
import { openWebSocket } from '../../support/raw-socket.js';
import { closeLater } from '../../support/resources.js';
import { openStream } from '../../support/sse-client.js';
import { hear } from '../../support/tracing.js';

const methods = {
  ids: () => ({ requestId: getContext().requestId, traceId: getContext().traceId }),
  nothing: () => undefined,
  broken: () => {
    throw new Error('inside');
  },
  async *breaks() {
    yield 1;
    throw new Error('inside');
  },
};

const app = { ...echo, tools: { look: tool({ description: 'Looks', handler: () => 'seen' }) } };

describe('X-Request-Id', () => {
  const named = { 'x-request-id': 'a.proxy:7/x=1' };

  const answers: readonly [string, (url: string, headers: Record<string, string>) => Promise<Response>][] = [
    ['a result', (url, headers) => fetch(`${url}/apps`, { headers })],
    ['no content', (url, headers) => invoke(url, 'nothing', headers)],
    ['a stream of events', (url, headers) => fetch(`${url}/events?sessionId=main`, { headers })],
    ['a stream of a run', (url, headers) => send(url, headers)],
    ['the result of a run', (url, headers) => send(url, { ...headers, accept: 'application/json' })],
    ['a stream of a method', (url, headers) => invoke(url, 'breaks', headers)],
    ['a refusal', (url, headers) => fetch(`${url}/apps`, { headers: { ...headers, authorization: '' } })],
    ['a path that is nothing', (url, headers) => fetch(`${url}/nothing`, { headers })],
    ['another HTTP method', (url, headers) => fetch(`${url}/apps`, { method: 'PUT', headers })],
    ['a failure', (url, headers) => invoke(url, 'broken', headers)],
    ['a file that is not there', (url, headers) => fetch(`${url}/files/none`, { headers })],
    ['health', (url, headers) => fetch(`${url}/healthz`, { headers })],
    ['readiness', (url, headers) => fetch(`${url}/readyz`, { headers })],
    ['a plugin', (url, headers) => fetch(`${url}/mcp`, { method: 'POST', headers, body: '{}' })],
    [
      'a preflight',
      (url, headers) =>
        fetch(`${url}/send`, {
          method: 'OPTIONS',
          headers: { ...headers, origin: 'https://a.example', 'access-control-request-method': 'POST' },
        }),
    ],
  ];
  const invoke = (url: string, method: string, headers: Record<string, string>) =>
    fetch(`${url}/invoke`, { method: 'POST', headers, body: JSON.stringify({ method }) });
  const send = (url: string, headers: Record<string, string>) =>
    fetch(`${url}/send`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ sessionId: 'main', message: 'hi' }),
    });

  const serve = async () => {
    const started = await startGateway({ app, methods, origins: ['https://a.example'] });
    started.gateway.use(mcpServerPlugin({ path: '/mcp', sessionId: 'main' }));
    return started;
  };

  for (const [what, ask] of answers) {
    it(`is on ${what}: the one that was given, and one of its own where none was, or none that is well-formed`, async () => {
      const { url } = await serve();
      const own: string[] = [];
      for (const given of [named, {}, { 'x-request-id': 'no spaces' }, { 'x-request-id': 'a'.repeat(129) }]) {
        const response = await ask(url, { ...jsonHeaders(), ...given });
        closeLater(response, (it) => it.body?.cancel().catch(() => {}));
        const id = response.headers.get('x-request-id');
        if (given === named) expect(id).to.equal('a.proxy:7/x=1');
        else own.push(id!);
        if (response.headers.get('content-type')?.startsWith('application/json') && response.status >= 400) {
          const { error } = (await response.json()) as { error: { requestId?: string } | string };
          // What a plugin's protocol says of an error is the protocol's.
          if (what !== 'a plugin') expect(error).to.include({ requestId: id });
        }
      }
      for (const id of own) expect(id).to.match(/^req_[\w-]{8,}$/);
      expect(new Set(own).size).to.equal(3);
    });
  }

  it('is in the error of a stream that breaks off', async () => {
    const { url } = await serve();
    const response = await invoke(url, 'breaks', { ...jsonHeaders(), ...named });
    expect(await response.text()).to.match(/event: fail\ndata: .*"requestId":"a\.proxy:7\/x=1"/);
  });

  it('may be read by pages of other origins, and sent by them', async () => {
    const { url } = await serve();
    const origin = 'https://a.example';
    const answer = await get(`${url}/apps`, { origin });
    expect(answer.headers.get('access-control-expose-headers')).to.match(/X-Request-Id/);
    const allowed = await preflight(`${url}/send`, origin);
    expect(allowed.headers.get('access-control-allow-headers')).to.match(/X-Request-Id/);
  });

  it('is the one that the host has put on the answer already', async () => {
    const host = express();
    host.use((_request, response, next) => {
      response.set('X-Request-Id', 'of-the-host');
      next();
    });
    const gateway = gatewayMiddleware({
      app,
      methods,
      auth: { type: 'token', token: TOKEN },
      logger: new TestLogger(),
    });
    closeLater(gateway.gateway, (it) => it.close());
    host.use('/agent', gateway);
    const url = await listenOnLoopback(host);
    const { headers, body } = await post(`${url}/agent/invoke`, { method: 'ids' }, named);
    expect(headers.get('x-request-id')).to.equal('of-the-host');
    expect(body.requestId).to.equal('of-the-host');
    const refused = await post(`${url}/agent/invoke`, { method: 'none' });
    expect(refused.headers.get('x-request-id')).to.equal('of-the-host');
    expect(refused.body.error.requestId).to.equal('of-the-host');
  });

  it('is known to methods, to the log, and to subscribers, also of the run that a send began', async () => {
    const { url, log } = await serve();
    const [operations, runs] = [hear(channels.operation), hear(channels.run)];
    const { body } = await post(`${url}/invoke`, { method: 'ids' }, named);
    expect(body.requestId).to.equal('a.proxy:7/x=1');
    await post(`${url}/invoke`, { method: 'broken' }, named);
    expect(log.lines.map(({ message }) => message)).to.include('request a.proxy:7/x=1 failed');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, named);
    const run = await runs.over();
    expect(run.message.requestId).to.equal('a.proxy:7/x=1');
    const stream = await openStream(`${url}/events?sessionId=main`, {
      headers: { ...jsonHeaders(), ...named },
    });
    await stream.until(({ event }) => event === 'connected');
    expect(operations.all.map(({ message }) => [message.operation, message.requestId])).to.deep.equal(
      ['invoke', 'invoke', 'send', 'events'].map((operation) => [operation, 'a.proxy:7/x=1']),
    );
  });

  it('is in the error frames of a socket, one for each request, and on the answer to its upgrade', async () => {
    const { url } = await serve();
    const socket = await openWebSocket(url);
    await socket.connect();
    const errors = [(await socket.ask('1', 'none')).error, (await socket.ask('2', 'none')).error];
    for (const error of errors) expect(error.requestId).to.match(/^req_/);
    expect(errors[0].requestId).to.not.equal(errors[1].requestId);
    const webSocket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: named });
    closeLater(webSocket, (it) => it.terminate());
    const upgraded = await new Promise<string | undefined>((resolve) =>
      webSocket.once('upgrade', ({ headers }) => resolve(String(headers['x-request-id']))),
    );
    expect(upgraded).to.equal('a.proxy:7/x=1');
    const refused = await new Promise<[string | undefined, string]>((resolve, reject) => {
      const headers = {
        ...named,
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        origin: 'https://b.example',
      };
      httpRequest(`${url}/ws`, { headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece) => (text += piece));
        response.on('end', () =>
          resolve([response.headers['x-request-id'] as string, JSON.parse(text).error.requestId]),
        );
      })
        .on('error', reject)
        .end();
    });
    expect(refused).to.deep.equal(['a.proxy:7/x=1', 'a.proxy:7/x=1']);
  });
});
