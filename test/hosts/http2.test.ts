import { once } from 'node:events';
import { createServer } from 'node:http2';
import { expect } from 'chai';
import Fastify from 'fastify';
import { z } from 'zod';
import { type Gateway, method } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { embedGateway } from '../support/embedded.js';
import { startGateway } from '../support/gateway.js';
import { listenWith } from '../support/host-server.js';
import { eventsOf, Http2Client } from '../support/http2-client.js';
import { closeLater } from '../support/resources.js';

function latch(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

type Host = (gateway: Gateway<any, any, any>) => Promise<string>;

const nodeHttp2: Host = async (gateway) => {
  // Node's types know two kinds of request; a gateway takes both.
  const server = createServer((request, response) =>
    gateway.handleRequest(request as never, response as never, { basePath: '/agent' }),
  );
  return listenWith(server);
};

const fastify: Host = async (gateway) => {
  const host = Fastify({ http2: true });
  host.all('/agent/*', (request, reply) => {
    reply.hijack();
    gateway.handleRequest(request.raw as never, reply.raw as never, {
      basePath: '/agent',
      body: request.body,
    });
  });
  closeLater(host, (it) => it.close());
  return host.listen({ port: 0, host: '127.0.0.1' });
};

for (const [name, serve] of Object.entries({ 'node:http2': nodeHttp2, 'Fastify with http2': fastify })) {
  describe(`a gateway behind ${name}`, () => {
    const start = async (config: Parameters<typeof embedGateway>[0] = {}) => {
      const gateway = embedGateway({
        app: echo,
        methods: { same: async (params: unknown) => params },
        ...config,
      });
      return { gateway, client: new Http2Client(await serve(gateway)) };
    };

    it('reads bodies whose length nobody announced, and takes none for an empty object', async () => {
      const { client } = await start();
      const answer = await client.post('/agent/invoke', {
        method: 'same',
        params: { a: 'ä'.repeat(40_000) },
      });
      expect(answer.status).to.equal(200);
      expect(answer.body.a).to.have.length(40_000);
      const empty = await client.ask('/agent/invoke', { ':method': 'POST' });
      expect([empty.status, empty.body.error.code]).to.deep.equal([400, 'INVALID_PARAMS']);
    });

    it('serves pages of its own origin and refuses others', async () => {
      const { client } = await start();
      for (const origin of [client.origin, undefined]) {
        const answer = await client.ask('/agent/status', origin === undefined ? {} : { origin });
        expect([origin, answer.status]).to.deep.equal([origin, 200]);
      }
      const foreign = await client.ask('/agent/status', { origin: 'https://evil.test' });
      expect([foreign.status, foreign.body.error.code]).to.deep.equal([403, 'ORIGIN_DENIED']);
    });

    it('streams the events of a session and the answer of a run', async () => {
      const { client } = await start();
      const stream = client.open('/agent/events?sessionId=main', { accept: 'text/event-stream' });
      const events = eventsOf(stream);
      expect((await events.next()).value.type).to.equal('connected');
      const run = eventsOf(client.open('/agent/send', { body: '{"sessionId":"main","message":"hi"}' }));
      const streamed: string[] = [];
      for await (const { type } of run) streamed.push(type);
      expect(streamed.at(-1)).to.equal('message_end');
      for await (const { type } of events) if (type === 'message_end') break;
      stream.destroy();
    });

    it('notices when a client resets a stream', async () => {
      const { gateway, client } = await start();
      const left = new Promise<void>((resolve) => gateway.on('client:disconnected', () => resolve()));
      const stream = client.open('/agent/events?sessionId=main');
      for await (const { type } of eventsOf(stream)) if (type === 'connected') break;
      stream.close();
      await left;
    });

    it('aborts a call whose client resets its stream, before its handler has begun or later', async () => {
      const reached = { guard: latch(), handler: latch(), admit: latch() };
      const aborted: string[] = [];
      const ended = { early: latch(), late: latch() };
      const wait = method({
        schema: z.object({ id: z.enum(['early', 'late']) }),
        guard: async () => {
          reached.guard.open();
          await reached.admit.opened;
          return true;
        },
        handler: async ({ id }, { signal }) => {
          reached.handler.open();
          if (!signal.aborted) await once(signal, 'abort');
          aborted.push(id);
          ended[id].open();
        },
      });
      const { client } = await start({ methods: { wait } });
      const call = (id: string) => {
        const stream = client.open('/agent/invoke', { body: `{"method":"wait","params":{"id":"${id}"}}` });
        return stream.on('error', () => {});
      };
      const reset = async (stream: ReturnType<typeof call>): Promise<void> => {
        stream.close();
        await once(stream, 'close');
        // The server has heard of the reset once it answers what was asked after it.
        await client.ask('/agent/status');
      };
      const early = call('early');
      await reached.guard.opened;
      await reset(early);
      reached.admit.open();
      await ended.early.opened;

      reached.handler = latch();
      const late = call('late');
      await reached.handler.opened;
      await reset(late);
      await ended.late.opened;
      expect(aborted).to.deep.equal(['early', 'late']);
    });
  });
}

describe('a request over HTTP/2', () => {
  it('is refused with a body that is too large which ends no other on its connection', async () => {
    const gateway = embedGateway({
      app: echo,
      methods: { same: async (params: unknown) => params },
      limits: { bodyBytes: 1000, conversationBytes: 1000 },
    });
    const client = new Http2Client(await nodeHttp2(gateway));
    const large = await client.post('/agent/invoke', { method: 'same', params: 'x'.repeat(2000) });
    expect([large.status, large.body.error.code]).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
    expect((await client.post('/agent/invoke', { method: 'same', params: 1 })).body).to.equal(1);
  });

  it('has its host name checked as any other', async () => {
    const { gateway } = await startGateway({ app: echo });
    const client = new Http2Client(await nodeHttp2(gateway));
    expect((await client.ask('/agent/status')).status).to.equal(200);
    for (const headers of [{ ':authority': 'evil.test' }, { ':authority': 'evil.test', host: 'localhost' }])
      expect((await client.ask('/agent/status', headers)).status).to.equal(403);
  });
});
