import { expect } from 'chai';
import { createClient, sseTransport } from '../../client/index.js';
import { GatewayError } from '../../shared/errors.js';
import { SseDecoder } from '../../shared/sse.js';
import { echo } from '../support/apps.js';
import { connectClient, failure } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { withGlobal } from '../support/globals.js';
import { listenOnLoopback } from '../support/host-server.js';
import { at, info, logged, scriptedClient } from './scripted.js';

describe('the calls of a client', () => {
  it('reject with a GatewayError, whatever was wrong', async () => {
    const { url } = await startGateway({ app: echo });
    for (const transport of ['sse', 'websocket'] as const) {
      const client = connectClient(url, { transport, WebSocket: (await import('ws')).WebSocket as never });
      const unsayable = await failure(client.invoke('x', { n: 1n }));
      expect(unsayable).to.be.instanceOf(GatewayError);
      expect(unsayable).to.include({ code: 'INVALID_REQUEST' });
      expect(unsayable.message).to.include('BigInt');
    }
  });

  it('survive whatever the page gave that throws', async () => {
    const { url } = await startGateway({ app: echo });
    const throws = () => {
      throw new Error('a bug in the page');
    };
    const failing = {
      name: 'failing',
      request: throws,
      stream: throws,
      open: throws,
      close: () => {},
    } as never;
    for (const options of [
      { fetch: throws as never },
      { headers: throws },
      { token: throws },
      { transport: 'websocket' as const, WebSocket: throws as never },
      { transport: failing },
    ]) {
      const client = connectClient(url, options);
      for (const call of [client.invoke('x'), client.stream('x').next()]) {
        const error = await failure(call);
        expect(error).to.be.instanceOf(GatewayError).and.include({ code: 'NETWORK' });
      }
      const state = new Promise<void>((resolve) =>
        client.on('state', (now) => now === 'reconnecting' && resolve()),
      );
      client.events('main');
      await state;
      expect(client.connection.error).to.include({ code: 'NETWORK' });
      client.disconnect();
    }
  });

  it('name the address and the cause when there is nobody', async () => {
    const error = await failure(connectClient('http://127.0.0.1:1').invoke('x'));
    expect(error.message).to.include('http://127.0.0.1:1/invoke').and.include('fetch failed');
  });

  it('say at once that a relative address means nothing outside of a page', async () => {
    const client = connectClient('/agent');
    for (const call of [client.apps(), client.send('main', 'x').accepted, client.events('main').next()]) {
      const error = await failure(call);
      expect(error).to.include({ code: 'INVALID_REQUEST' });
      expect(error.message).to.include('"/agent" is relative');
    }
  });

  it('wait for who asks them to, but not for ever', async () => {
    let asked = 0;
    let after: string | undefined;
    const url = await listenOnLoopback((_, response) => {
      asked += 1;
      response.writeHead(503, after === undefined ? {} : { 'retry-after': after }).end();
    });
    for (after of ['3600', '9999999', new Date(Date.now() + 7_200_000).toUTCString()]) {
      asked = 0;
      const error = await failure(connectClient(url).send('main', 'x').accepted);
      expect(error.retryAfterMs).to.be.greaterThan(3_000_000);
      expect(asked).to.equal(1);
    }
  });

  it('take no answer for final that is not a gateway’s', async () => {
    let asked = 0;
    const url = await listenOnLoopback((request, response) => {
      asked += 1;
      request.resume();
      if (asked < 3) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>not found</h1>');
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{"apps":[]}');
    });
    expect(await connectClient(url).apps()).to.deep.equal({ apps: [] });
  });

  it('repeat what is safe after 408 and 429, and a send after a time-out', async () => {
    const { transport, client } = scriptedClient({ timeoutMs: 30 });
    const accepted = { runId: 'r', message: {}, position: 0, cursor: at(0) };
    const errors = [
      new GatewayError({ code: 'RATE_LIMITED', retryAfterMs: 1 }),
      new GatewayError({ code: 'NETWORK', status: 408, retryable: true }),
      new Promise(() => {}),
    ];
    transport.answers.send = (_: unknown, attempt: number) => errors[attempt - 1] ?? accepted;
    expect(await client.send('main', 'x').accepted).to.deep.equal(accepted);
    expect(transport.requests).to.have.length(4);
    transport.answers.history = (_: unknown, attempt: number) =>
      attempt < 2 ? new Promise(() => {}) : { messages: [], cursor: null, hasMore: false };
    expect(await client.session('main').history()).to.have.property('hasMore', false);
  });

  it('carry cookies as they are told to', async () => {
    const seen: (string | undefined)[] = [];
    const fetch = (async (_: string, { credentials }: RequestInit) => {
      seen.push(credentials);
      return new Response('{"apps":[]}', { headers: { 'content-type': 'application/json' } });
    }) as typeof globalThis.fetch;
    for (const credentials of ['include', undefined] as const)
      await createClient({ baseUrl: 'http://gateway.test', fetch, credentials }).apps();
    expect(seen).to.deep.equal(['include', undefined]);
  });

  it('name the run that they abort', async () => {
    const { transport, client } = scriptedClient();
    transport.answers = { status: { runId: 'r7' }, abort: { aborted: true } };
    expect(await client.abort('main')).to.deep.equal({ aborted: true });
    expect(transport.requests.map(({ operation, params }) => [operation, params.runId])).to.deep.equal([
      ['status', undefined],
      ['abort', 'r7'],
    ]);
    client.events('main');
    (await transport.link(0))
      .connect({ main: info(1) })
      .emit(logged(1, 'message_start', { runId: 'r8', messageId: 'm', app: 'a' }));
    await client.abort('main', { reason: 'enough' });
    expect(transport.requests.at(-1)).to.deep.include({ operation: 'abort' });
    expect(transport.requests.at(-1)!.params).to.deep.equal({
      sessionId: 'main',
      runId: 'r8',
      reason: 'enough',
    });
    transport.answers.status = {};
    expect(await client.abort('other')).to.deep.equal({ aborted: false });
  });

  it('say on a channel that messages are missing', async () => {
    const { transport, client } = scriptedClient();
    const messages = client.channel('news')[Symbol.asyncIterator]();
    const link = (await transport.link(0)).connect({ main: info(1) });
    const hole = {
      type: 'gap',
      sessionId: 'main',
      cursor: at(9),
      reason: 'evicted',
      requested: null,
      epoch: null,
      first: 1,
      head: 1,
    } as const;
    link.emit(logged(1, 'channel', { channel: 'news', event: { type: 'm', payload: 1 } }), hole, {
      type: 'snapshot',
      sessionId: 'main',
      cursor: at(9),
      state: {} as never,
    });
    expect((await messages.next()).value).to.deep.equal({ type: 'm', payload: 1 });
    expect((await messages.next()).value).to.deep.equal({ type: 'gap', gap: hole });
  });
});

describe('a client where something is missing', () => {
  it('sends on pages without crypto', async () => {
    const { url } = await startGateway({ app: echo });
    withGlobal('crypto', {});
    const keys = [1, 2].map(() => connectClient(url).send('main', 'x'));
    for (const run of keys) expect((await run.result).stopReason).to.equal('end');
    expect(keys[0]!.idempotencyKey).not.to.equal(keys[1]!.idempotencyKey);
  });

  it('says what to do where fetch does not stream', async () => {
    const { url } = await startGateway({ app: echo });
    const fetch = (async (...args: Parameters<typeof globalThis.fetch>) => {
      const response = await globalThis.fetch(...args);
      return new Proxy(response, {
        get: (target, name) => {
          const value = name === 'body' ? undefined : (Reflect.get(target, name, target) as unknown);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    }) as typeof globalThis.fetch;
    const error = await failure(connectClient(url, { fetch }).events('main').next());
    expect(error).to.include({ code: 'INVALID_REQUEST' });
    expect(error.message).to.include('websocket');
  });

  it('works over a WebSocket as on React Native, by itself', async () => {
    const { url } = await startGateway({ app: echo });
    const { WebSocket } = await import('ws');
    withGlobal('navigator', { product: 'ReactNative' });
    withGlobal('WebSocket', WebSocket);
    withGlobal('crypto', {});
    withGlobal('throwIfAborted', undefined, AbortSignal.prototype);
    withGlobal(
      'URL',
      class extends URL {
        override set protocol(_: string) {
          throw new Error('not implemented');
        }
      },
    );
    withGlobal('fetch', () => Promise.reject(new Error('is not used')));
    const client = connectClient(url);
    const run = client.send('main', 'hello');
    expect((await run.result).stopReason).to.equal('end');
  });
});

describe('the decoder of event streams', () => {
  it('takes time in proportion to an event, however it is cut', () => {
    const costOf = (mib: number) => {
      const bytes = Buffer.from(`data: ${'a'.repeat(mib << 20)}\n\n`);
      const costs = [1, 2, 3].map(() => {
        const decoder = new SseDecoder();
        // What the processor did for it: the machine may have had others to serve meanwhile.
        const before = process.cpuUsage();
        let events = 0;
        for (let from = 0; from < bytes.length; from += 65_536)
          events += decoder.feed(bytes.subarray(from, from + 65_536)).length;
        const { user, system } = process.cpuUsage(before);
        expect(events).to.equal(1);
        return user + system;
      });
      return Math.min(...costs);
    };
    costOf(4);
    // 8 times as much: 64 times as long, if each piece looked at all before it.
    expect(costOf(32) / costOf(4)).to.be.lessThan(32);
  });
});

describe('sseTransport', () => {
  it('may be made on a server for a page', () => {
    expect(sseTransport({ baseUrl: '/agent' }).name).to.equal('sse');
  });
});
